"""Runs the steps of a composite GitHub Action as a runner does, in the current folder.

usage: action.py ACTION.yml [INPUT=VALUE…]

Expressions may only name inputs and the github context. Steps that use another action are listed and left out.
"""

import os
import re
import subprocess
import sys

import yaml


def main(path, given):
    with open(path, encoding="utf-8") as file:
        action = yaml.safe_load(file)
    for key in ("name", "description", "inputs", "runs"):
        assert key in action, f"{path} has no `{key}`"
    assert action["runs"]["using"] == "composite", action["runs"]["using"]
    values = {}
    for name, description in action["inputs"].items():
        assert description["description"], f"input {name} has no description"
        if name in given:
            values[f"inputs.{name}"] = given.pop(name)
        elif description.get("required"):
            sys.exit(f"input {name} is required")
        else:
            values[f"inputs.{name}"] = description.get("default", "")
    assert not given, f"unknown inputs {sorted(given)}"
    values["github.server_url"] = "https://github.example"
    values["github.action_repository"] = "owner/isobath"
    values["github.action_ref"] = "v1"
    values["github.action_path"] = os.path.dirname(os.path.abspath(path))

    def evaluated(text):
        return re.sub(r"\$\{\{\s*([\w.]+)\s*\}\}", lambda found: values[found[1]], str(text))

    summary = os.path.abspath("summary.md")
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": summary, "GITHUB_ACTIONS": "true"}
    is_green = True
    for step in action["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step), f"{step} neither runs nor uses something, or both"
        assert set(step) <= {"name", "if", "shell", "env", "run", "uses", "with", "id"}, set(step)
        condition = step.get("if", "success()")
        assert condition in ("success()", "always()"), condition
        if condition == "success()" and not is_green:
            print(f"-- skipped: {step['name']}")
        elif "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), step["uses"]
            print(f"-- left out: {step['name']} ({step['uses']})")
        else:
            # A step that runs a command must name its shell; this is what a runner makes of it.
            assert step["shell"] == "bash", step
            print(f"-- {step['name']}", flush=True)
            variables = {name: evaluated(value) for name, value in step.get("env", {}).items()}
            assert "${{" not in step["run"], "expressions in scripts would be run as code"
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            ended = subprocess.run(command, env={**environment, **variables}, check=False)
            is_green = is_green and ended.returncode == 0
    sys.exit(0 if is_green else 1)


if __name__ == "__main__":
    main(sys.argv[1], dict(argument.split("=", 1) for argument in sys.argv[2:]))
