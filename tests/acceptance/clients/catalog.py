"""A Keystone for clients that insist on one: a token for everybody, a catalog of one endpoint."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def start(endpoint):
    """The URL of a catalog that names an orchestration endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            links = [{"rel": "self", "href": f"http://{self.headers['Host']}/v3/"}]
            self.answer(200, {"version": {"id": "v3.14", "status": "stable", "links": links}})

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            named = {"id": "default", "name": "default", "domain": {"id": "d", "name": "d"}}
            place = {"id": "e", "interface": "public", "region": "R", "region_id": "R"}
            service = {"id": "s", "type": "orchestration", "name": "heat"}
            token = {
                "methods": ["password"],
                "user": named,
                "project": named,
                "roles": [{"id": "r", "name": "member"}],
                "issued_at": "2020-01-01T00:00:00.000000Z",
                "expires_at": "2100-01-01T00:00:00.000000Z",
                "catalog": [{**service, "endpoints": [{**place, "url": endpoint}]}],
            }
            self.answer(201, {"token": token}, {"X-Subject-Token": "any"})

        def answer(self, status, value, headers=None):
            text = json.dumps(value).encode()
            self.send_response(status)
            sent = {"Content-Type": "application/json", "Content-Length": len(text)}
            for name, each in {**sent, **(headers or {})}.items():
                self.send_header(name, str(each))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v3"
