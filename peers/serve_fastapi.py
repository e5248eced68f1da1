"""A checkpoint of heddle behind FastAPI and PyTorch: /v1/predict with the same JSON as `heddle serve`, for comparison.

    peers/serve_fastapi.py runs/synth-cnn/best.safetensors --port 8800 [--threads N] [--workers N] [--batching] [--script]

It is written to be fast: uvloop and httptools, orjson without a schema in between, batchnorms folded, inference mode.
--batching predicts requests that arrive together in one batch; --script freezes the network with TorchScript.
tests/serve/load.py measures all four with 1 worker of 1 or 2 threads and with 2 workers of 1 thread. 2 workers of 2 threads
and torch.compile are not measured. Needs fastapi, uvicorn[standard], orjson, torch and numpy.
"""

import argparse
import asyncio
import json
import os
import struct

import fastapi
import numpy as np
import orjson
import torch
import uvicorn

import model_file
import network_torch
import safetensors_file

MOST_TOGETHER = 64


def document_of(path):
    """The model file that is kept in a checkpoint."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(json.loads(file.read(length))["__metadata__"]["heddle.model"])


class Predictor(torch.nn.Module):
    """Probabilities of images with values from 0 to 255."""

    def __init__(self, path):
        super().__init__()
        document = document_of(path)
        size = document.pop("input")
        self.shape = (size["channels"], size["height"], size["width"])
        model = model_file.model_of(document, path, self.shape, size["classes"])
        values = {name: torch.from_numpy(value) for name, value in safetensors_file.read(path).items()}
        self.layers, self.values = network_torch.without_batch_norms(model.layers, values)

    def forward(self, images):
        return torch.softmax(network_torch.forward(self.layers, self.values, images / 255, False), 1)


def open_network(path, script):
    predictor = Predictor(path).eval()
    if not script:
        return predictor, predictor.shape
    traced = torch.jit.trace(predictor, torch.zeros((1, *predictor.shape)))
    return torch.jit.optimize_for_inference(torch.jit.freeze(traced)), predictor.shape


def answer(rows, together):
    best = rows.argmax(1).tolist()
    predictions = [{"class": one, "name": str(one), "probabilities": row} for one, row in zip(best, rows)]
    return fastapi.Response(orjson.dumps({"predictions": predictions, "batch": together},
                                         option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


class Batches:
    """Predicts what has arrived by the time the event loop has nothing else to do."""

    def __init__(self, predict):
        self.predict, self.waiting, self.is_due = predict, [], False

    def add(self, image):
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self.waiting.append((image, done))
        if not self.is_due:
            self.is_due = True
            loop.call_soon(self.run)
        return done

    def run(self):
        now, self.waiting = self.waiting[:MOST_TOGETHER], self.waiting[MOST_TOGETHER:]
        self.is_due = bool(self.waiting)
        if self.is_due:
            asyncio.get_running_loop().call_soon(self.run)
        rows = self.predict(np.stack([image for image, _ in now]))
        for row, (_, done) in zip(rows, now):
            done.set_result((row[None], len(now)))


def make_app():
    settings = json.loads(os.environ["SERVE_FASTAPI"])
    torch.set_num_threads(settings["threads"])
    network, shape = open_network(settings["checkpoint"], settings["script"])

    def predict(images):
        with torch.inference_mode():
            return network(torch.from_numpy(images)).numpy()

    batches = Batches(predict)
    app = fastapi.FastAPI()

    @app.post("/v1/predict")
    async def predict_one(request: fastapi.Request):
        image = np.array(orjson.loads(await request.body())["image"], np.float32).reshape(shape)
        if settings["batching"]:
            return answer(*await batches.add(image))
        return answer(predict(image[None]), 1)

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("--port", type=int, default=8800)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batching", action="store_true")
    parser.add_argument("--script", action="store_true")
    arguments = parser.parse_args()
    os.environ["SERVE_FASTAPI"] = json.dumps(vars(arguments))
    uvicorn.run("serve_fastapi:make_app", factory=True, port=arguments.port, workers=arguments.workers, loop="uvloop",
                http="httptools", log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
