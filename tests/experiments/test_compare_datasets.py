"""Data sets: what is loaded is what the file says, or the error names what is wrong."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from rffboost_ext.experiments.compare import NamedDataset, Protocol, compare, load
from rffboost_ext.experiments.datasets import SHIPPED

MIXED = "colour,size,target,shape\nred,1,no,round\nblue,2,yes,square\nred,3,yes,round\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mixed.csv").write_text(MIXED)
    return tmp_path


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sets_have_the_papers_positive_class(name):
    dataset = load(name)
    loaders = {"wine": load_wine, "digits": load_digits}
    X, y = loaders.get(name, load_breast_cancer)(return_X_y=True)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y % 2 if name == "digits" else y == 0)
    assert dataset.name == name


def test_numeric_columns_come_first_then_one_column_per_category(folder):
    dataset = load("mixed", folder)
    expected = [[1, 0, 1, 1, 0], [2, 1, 0, 0, 1], [3, 0, 1, 1, 0]]
    np.testing.assert_array_equal(dataset.X, expected)
    np.testing.assert_array_equal(dataset.y, [0, 1, 1])
    assert dataset.X.dtype == np.float64
    assert dataset.name == "mixed"


def test_a_path_a_stem_and_a_compressed_file_are_the_same(folder):
    (folder / "zipped.csv.gz").write_bytes(gzip.compress(MIXED.encode()))
    named = load("mixed", folder)
    for other in (load(str(folder / "mixed.csv")), load("zipped", folder), load(str(folder / "zipped.csv.gz"))):
        np.testing.assert_array_equal(named.X, other.X)
        np.testing.assert_array_equal(named.y, other.y)


def test_the_target_can_have_another_name(folder):
    (folder / "other.csv").write_text("a,label\n1,-1\n2,1\n5,1\n")
    np.testing.assert_array_equal(load("other", folder, target="label").y, [0, 1, 1])


def test_a_file_comes_before_a_shipped_set_and_before_one_of_a_subfolder(folder):
    two, three = "a,target\n1,-1\n2,1\n", "a,target\n1,-1\n2,1\n3,1\n"
    (folder / "sub" / "subsub").mkdir(parents=True)
    (folder / "wine.csv").write_text(two)
    (folder / "sub" / "wine.csv").write_text(three)
    (folder / "sub" / "deep.csv.gz").write_bytes(gzip.compress(three.encode()))
    (folder / "sub" / "subsub" / "deepest.csv").write_text(two)
    assert load("wine", folder).X.shape == (2, 1)
    assert load("deep", folder).X.shape == (3, 1)
    assert load("wdbc", folder).X.shape == (569, 30)
    with pytest.raises(ValueError, match=r"unknown data set 'deepest'.*Did you mean 'deep'"):
        load("deepest", folder)


PAIRS = "1,2,0\n2,1,1\n" * 9
BAD = {
    "three": ("a,target\n1,0\n2,1\n3,2\n", "'target' must have 2 classes, got 3"),
    "one": ("a,target\n1,0\n2,0\n", "'target' must have 2 classes, got 1"),
    "gap": ("a,b,target\n,2,0\n" + PAIRS, "column 'a' has missing values"),
    "text_gap": ("a,b,target\n1,x,0\n1,,1\n", "column 'b' has missing values"),
    "target_gap": ("a,b,target\n1,2,\n" + PAIRS, "column 'target' has missing values"),
    "text_target_gap": ("a,target\n1,\n" + "1,yes\n2,no\n" * 9, "column 'target' has missing values"),
    "infinite": ("a,target\n1,0\ninf,1\n", "column 'a' has infinite values"),
    "short": ("a,target\n1,0\n", "at least 2 rows and 2 columns"),
    "narrow": ("target\n1\n0\n", "at least 2 rows and 2 columns"),
    "semicolons": ("a;b;target\n" + "1;2;0\n2;1;1\n" * 9, "2 columns, separated by commas, got"),
    "empty": ("", "cannot be read as CSV"),
    "twice": ("a,target,target\n1,0,0\n2,1,1\n", "more than one column 'target'"),
    "twice_a": ("a,b,a,target\n1,2,3,0\n2,1,1,1\n", "more than one column 'a'"),
    "headless": ("1,2.5,0\n2,1,1\n3,4,0\n", "has no column 'target'"),
    "nameless": ("a,trget\n1,0\n2,1\n", "no column 'target'. Did you mean 'trget'"),
    "wide": ("a,b,target\n" + "1,2,0,5\n2,1,1,5\n" * 9, "has 3 names in its header and more cells in each row"),
    # Numbers of the rows, as R writes them.
    "numbered": ("a,target\n" + "".join(f"{i},5,{i % 2}\n" for i in range(9)), "has 2 names in its header"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_named(case, tmp_path):
    text, message = BAD[case]
    (tmp_path / f"{case}.csv").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        load(case, tmp_path)
    assert case in str(caught.value)


@pytest.mark.parametrize(("rows", "limit"), [(60, 20), (300, 30), (1500, 100)])
def test_text_of_too_many_values_is_no_category(rows, limit, tmp_path):
    for n_values in (limit, limit + 1):
        lines = [f"{i},v{i % n_values},{i % 2}\n" for i in range(rows)]
        (tmp_path / f"t{n_values}.csv").write_text("a,id,target\n" + "".join(lines))
    assert load(f"t{limit}", tmp_path).X.shape == (rows, 1 + limit)
    with pytest.raises(ValueError, match=f"column 'id' has {limit + 1} distinct values.*at most {limit} can"):
        load(f"t{limit + 1}", tmp_path)


def test_a_column_may_be_called_like_what_pandas_makes_of_a_second_one(tmp_path):
    (tmp_path / "dotted.csv").write_text("a,a.1,target\n1,5,0\n2,6,1\n")
    assert load("dotted", tmp_path).X.tolist() == [[1, 5], [2, 6]]


def test_whole_numbers_may_be_names(tmp_path):
    for names in ("0,1,target", "2019,2020,target", "1.5,x,target"):
        (tmp_path / "numbers.csv").write_text(f"{names}\n1,5,0\n2,6,1\n")
        assert load("numbers", tmp_path).X.tolist() == [[1, 5], [2, 6]]
    (tmp_path / "whole.csv").write_text("0,1\n5,0\n6,1\n")
    assert load("whole", tmp_path, "1").X.tolist() == [[5], [6]]


def test_a_file_that_is_not_what_its_name_says(tmp_path):
    (tmp_path / "broken.csv.gz").write_bytes(b"not compressed")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(MIXED.encode() * 50)[:60])
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
    for name in ("broken", "cut", "binary"):
        with pytest.raises(ValueError, match=f"{name}.*cannot be read as CSV"):
            load(name, tmp_path)


def test_unknown_names_list_the_choices(folder):
    with pytest.raises(
        ValueError, match=r"'mixd'. Did you mean 'mixed'\? Choices: breast_cancer, digits, mixed, wdbc, wine"
    ):
        load("mixd", folder)
    with pytest.raises(ValueError, match="no such file"):
        load(str(folder / "absent.csv"))
    with pytest.raises(ValueError, match="is not a folder"):
        load("mixed", folder / "absent")


def test_data_made_by_hand_are_checked():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    protocol = Protocol(rounds=2, splits=1)
    for odd in (y + 1, 2 * y - 1, y * 1.0, np.where(y, "a", "b")):
        with pytest.raises(ValueError, match="data set 'd': y must be 0 or 1"):
            compare([NamedDataset("d", X, odd)], ["tree"], protocol)
    with pytest.raises(ValueError, match="X contains NaN"):
        compare([NamedDataset("d", X * np.nan, y)], ["tree"], protocol)


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("order", [range(40), range(40, 0, -1), [*range(0, 40, 2), *range(1, 40, 2)]], ids=str)
def test_an_index_is_no_feature(again, order, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=40), "target": np.arange(40) % 2}, index=list(order))
    table.to_csv(tmp_path / "rows.csv")
    if again:
        pd.read_csv(tmp_path / "rows.csv").to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match="numbers the rows, an index and no feature: leave it out"):
        load("rows", tmp_path)
    table.to_csv(tmp_path / "rows.csv", index=False)
    np.testing.assert_allclose(load("rows", tmp_path).X, table[["a"]])
