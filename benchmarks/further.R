# Write the data sets of the table "further" as CSV files: Rscript benchmarks/further.R FOLDER
#
# They come with R packages; on Debian: apt install r-base-core r-cran-aer r-cran-cardata r-cran-caret r-cran-ggplot2
# r-cran-kernlab r-cran-mass r-cran-mlbench r-cran-modeldata r-cran-rpart r-cran-survival
#
# A row says: file, package, data, target, and columns that identify a row or give the target away.

sets <- list(
  list("ad", "modeldata", "ad_data", "Class"),
  list("attrition", "modeldata", "attrition", "Attrition"),
  list("biopsy", "MASS", "biopsy", "class", "ID"),
  list("cells", "caret", "segmentationData", "Class", c("Cell", "Case")),
  list("churn_mlc", "modeldata", "mlc_churn", "churn"),
  list("churn_wa", "modeldata", "wa_churn", "churn"),
  list("crabs", "MASS", "crabs", "sp", "index"),
  list("credit", "modeldata", "credit_data", "Status"),
  list("dhfr", "caret", "dhfr", "Y"),
  list("dna", "mlbench", "DNA", "Class"),
  list("flchain", "survival", "flchain", "death", c("chapter", "futime")),
  list("glass_types", "mlbench", "Glass", "Type"),
  list("hpc", "modeldata", "hpc_data", "class"),
  list("income", "kernlab", "income", "INCOME"),
  list("lending_club", "modeldata", "lending_club", "Class"),
  list("musk", "kernlab", "musk", "Class"),
  list("pd_speech", "modeldata", "pd_speech", "class", "id"),
  list("penguins", "modeldata", "penguins", "species"),
  list("satellite", "mlbench", "Satellite", "classes"),
  list("soybean", "mlbench", "Soybean", "Class"),
  list("stackoverflow", "modeldata", "stackoverflow", "Remote"),
  list("ticdata", "kernlab", "ticdata", "CARAVAN"),
  list("vehicle_types", "mlbench", "Vehicle", "Class"),
  list("votes", "mlbench", "HouseVotes84", "Class"),
  list("vowel", "mlbench", "Vowel", "Class"),
  list("airquality", "datasets", "airquality", "Ozone"),
  list("ames", "modeldata", "ames", "Sale_Price"),
  list("biomass", "modeldata", "biomass", "HHV", c("sample", "dataset")),
  list("car_prices", "modeldata", "car_prices", "Price"),
  list("check_times", "modeldata", "check_times", "check_time", "package"),
  list("chicago", "modeldata", "Chicago", "ridership"),
  list("college_scores", "AER", "CollegeDistance", "score"),
  list("concrete", "modeldata", "concrete", "compressive_strength"),
  list("cpus", "MASS", "cpus", "perf", c("name", "estperf")),
  list("diamonds", "ggplot2", "diamonds", "price"),
  list("doctor_visits", "AER", "DoctorVisits", "visits"),
  list("house_prices", "AER", "HousePrices", "price"),
  list("meats", "modeldata", "meats", "fat", c("water", "protein")),
  list("nlschools", "MASS", "nlschools", "lang", "class"),
  list("nmes_visits", "AER", "NMES1988", "visits"),
  list("ozone", "mlbench", "Ozone", "V4"),
  list("quakes", "datasets", "quakes", "mag"),
  list("sacramento", "modeldata", "Sacramento", "price", "zip"),
  list("salaries", "carData", "Salaries", "salary"),
  list("servo", "mlbench", "Servo", "Class"),
  list("solder", "rpart", "solder", "skips"),
  list("wages_cps", "AER", "CPS1985", "wage"),
  list("wages_slid", "carData", "SLID", "wages")
)

# Grades in their order, codes that are numbers, and dates as days are numbers; other categories remain text.
as_number <- function(column) {
  text <- as.character(column)
  if (is.ordered(column)) as.numeric(column)
  else if (inherits(column, "Date")) as.numeric(column)
  else if (is.factor(column) && !anyNA(suppressWarnings(as.numeric(text[!is.na(text)])))) as.numeric(text)
  else column
}

write_set <- function(folder, file, package, data, target, drop = c()) {
  found <- new.env()
  data(list = data, package = package, envir = found)
  frame <- as.data.frame(get(data, envir = found))
  frame <- frame[!is.na(frame[[target]]), !(names(frame) %in% drop)]
  inputs <- frame[names(frame) != target]
  inputs[] <- lapply(inputs, as_number)
  outcome <- frame[[target]]
  # Of six incomes and more, those above the middle one; prices and durations by their order of magnitude.
  if (file == "income") outcome <- as.numeric(outcome) > 5
  if (file %in% c("ames", "check_times")) outcome <- log10(outcome)
  outcome <- if (is.numeric(outcome) && file != "flchain") outcome else paste0("class_", outcome)
  write.csv(cbind(inputs, target = outcome), file.path(folder, paste0(file, ".csv")), row.names = FALSE, na = "")
}

folder <- commandArgs(trailingOnly = TRUE)
if (length(folder) != 1 || !dir.exists(folder)) stop("give one folder that exists")
for (set in sets) do.call(write_set, c(folder, set))
