// A model file in a JavaScript runtime: class labels and probabilities for the rows of a CSV file.
//
//   npm install onnxruntime-web
//   node 03_onnx_web.mjs model.onnx rows.csv
//
// The CSV file has no header, one row per line. Each line of output is a label and its row's probabilities.

import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-web";

const [modelPath, rowsPath] = process.argv.slice(2);
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync(modelPath));

const rows = readFileSync(rowsPath, "utf8").trim().split("\n").map((line) => line.split(",").map(Number));
const X = new ort.Tensor("float32", Float32Array.from(rows.flat()), [rows.length, rows[0].length]);
const { label, probabilities } = await session.run({ X });

const K = probabilities.dims[1];
label.data.forEach((name, i) => {
  const p = Array.from(probabilities.data.slice(K * i, K * (i + 1)));
  console.log([name, ...p].join(","));
});
