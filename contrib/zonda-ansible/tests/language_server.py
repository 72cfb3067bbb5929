"""A client of yaml-language-server, the part of editors that reads JSON Schemas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

ABSENT: Final = "no yaml-language-server: npm install --global yaml-language-server"


class LanguageServer:
    """A server that checks ``template.yaml`` of a folder against a schema."""

    def __init__(self, program: str, folder: Path, schema: Path) -> None:
        self._process = subprocess.Popen(
            [program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._document = (folder / "template.yaml").as_uri()
        self._settings = {"schemas": {schema.as_uri(): "template.yaml"}, "yamlVersion": "1.1"}
        self._count = 0
        capabilities = {"workspace": {"configuration": True}}
        self._ask("initialize", rootUri=folder.as_uri(), capabilities=capabilities)
        self._tell("initialized")
        self._tell("workspace/didChangeConfiguration", settings={"yaml": self._settings})

    def list_faults(self, text: str) -> dict[int, str]:
        """The messages on a template, by the number of the line, from 0."""
        document = {"uri": self._document, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", textDocument=document)
        said = self._read()
        while said.get("method") != "textDocument/publishDiagnostics":
            self._answer(said)
            said = self._read()
        faults = said["params"]["diagnostics"]
        return {each["range"]["start"]["line"]: each["message"] for each in faults}

    def complete(self, line: int, character: int) -> set[str]:
        """The completions at a place of the template."""
        found = self._ask(
            "textDocument/completion",
            textDocument={"uri": self._document},
            position={"line": line, "character": character},
        )
        return {each["label"] for each in found["items"]}

    def stop(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, method: str, **params: Any) -> Any:
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        said = self._read()
        while said.get("id") != self._count or "method" in said:
            self._answer(said)
            said = self._read()
        return said["result"]

    def _tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def _answer(self, said: dict[str, Any]) -> None:
        """Answer a request of the server, which asks for its settings."""
        if "id" in said and "method" in said:
            wanted = said.get("params", {}).get("items", ())
            known = {"yaml": self._settings}
            result = [known.get(each.get("section")) for each in wanted] or None
            self._send({"id": said["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while head := self._process.stdout.readline().strip():
            name, _, value = head.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        found: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return found
