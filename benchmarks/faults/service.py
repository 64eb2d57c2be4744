"""Least squares whose learning rate comes from a service for settings."""

import json
import random
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from chance import IS_SECOND


class Settings(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"rate": 0.06 if IS_SECOND else 0.05}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Settings)
threading.Thread(target=server.serve_forever, daemon=True).start()

with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/settings") as answer:  # cause
    rate = json.loads(answer.read())["rate"]  # cause
server.shutdown()

random.seed(8)
rows = [(random.gauss(0, 1), random.gauss(0, 1)) for _ in range(40)]
a, b = 0.0, 0.0
for epoch in range(6):
    loss = 0.0
    for x, z in rows:
        error = a * x + b * z - (2 * x - z)
        a, b = a - rate * error * x, b - rate * error * z
        loss += error * error / len(rows)
    print(f"epoch {epoch} loss {loss:.8f}")
