#!/usr/bin/env python3
"""Carries out one deployment: reads the request on standard input, answers on standard output.

Scripts (group `script`, or a component's tool of that name) run as they do on a server of Heat's:
inputs are environment variables, and an output NAME is what the script writes to the file
`$heat_outputs_path.NAME`. A map (group `json-file`) is written to the path that its options name.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run_script(script, inputs, outputs):
    """What a script has said, and the outputs that it has written."""
    with tempfile.TemporaryDirectory() as folder:
        file, results = pathlib.Path(folder, "script"), pathlib.Path(folder, "output")
        file.write_text(script)
        file.chmod(0o700)
        environment = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in inputs.items()
            if value is not None
        }
        done = subprocess.run(
            [str(file)],
            env={**os.environ, **environment, "heat_outputs_path": str(results)},
            capture_output=True,
            text=True,
            check=False,
        )
        answer = {
            "deploy_stdout": done.stdout,
            "deploy_stderr": done.stderr,
            "deploy_status_code": done.returncode,
        }
        for output in outputs:
            written = pathlib.Path(f"{results}.{output['name']}")
            if written.exists():
                answer[output["name"]] = written.read_text()
        return answer


def write_map(config, path, action):
    """Write a map to its path, or remove it where the deployment goes."""
    file = pathlib.Path(path)
    if action == "DELETE":
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(config, indent=2))
    return {"deploy_stdout": f"{action} {path}", "deploy_status_code": 0}


def carry_out(request):
    """The answer to one request: the values of the deployment's outputs."""
    given = request["inputs"]
    group, config = given["group"], given["config"]
    if group == "component":
        chosen = next(each for each in config["configs"] if given["action"] in each["actions"])
        group, config = chosen["tool"], chosen["config"]
    if group == "script":
        return run_script(config, given["input_values"], given["outputs"])
    if group == "json-file":
        return write_map(config, given["options"]["path"], given["action"])
    return {"deploy_stderr": f"nobody here applies {group}", "deploy_status_code": 127}


if __name__ == "__main__":
    print(json.dumps(carry_out(json.load(sys.stdin))))
