"""A package that is not installed is told in one line: its own name, and how to get it.

In a process where none of them can be loaded; each line of CALLS is what needs one.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sweep_studies import write_study

import fairq
from fairq.core import lazy

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "scenarios" / "dumbbell.toml"

CALLS = {
    "anywidget": "fairq.lab()",
    "distributed": "fairq.sweep(study, engine='dask', address='tcp://127.0.0.1:9', store=folder + '/other')",
    "duckdb": "fairq.query(study, 'select 1')",
    "jinja2": "fairq.report(study, out=folder + '/page.html')",
    "matplotlib": "fairq.topology(root + '/docs/guide/four_cities.gml').plot()",
    "networkx": "fairq.Network().to_networkx()",
    "numpy": "fairq.detect(folder + '/times.csv')",
    "pandas": "result.flows.to_pandas()",
    "polars": "result.flows.to_polars()",
    "pyarrow": "result.flows.to_arrow()",
    "shtab": "command('--print-completion', 'bash')",
    "matplotlib of a run": "command('run', scenario, '--plot', folder + '/it.svg')",
    "matplotlib of a map": "command('topology', root + '/docs/guide/four_cities.gml', '--out', folder + '/it.svg')",
    "matplotlib of a timeline": "command('run', scenario, '--timeline', folder + '/it.svg')",
    "matplotlib of scenes": "command('explain', 'cubic', '--plot', folder + '/it.svg')",
    "numpy of a command": "command('detect', folder + '/times.csv')",
    "numpy of a paper": "fairq.reproduce('game', quick=True)",
}
"""By the package, what needs it."""

PLOTTING = ("matplotlib", "numpy")

WITHOUT = """
import contextlib, io, json, sys
calls, packages, root, scenario, folder, study = json.loads(sys.stdin.read())
for name in packages:
    sys.modules[name] = None
import fairq
from fairq.cli.program import main

def command(*words):
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        assert main(list(words)) == 2
    raise fairq.UsageError(told.getvalue().strip())

result = fairq.run(scenario, set={"measure.replications": 1, "measure.duration": "1 s"})
said = {}
for name, call in calls.items():
    try:
        eval(call)
    except fairq.UsageError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each call says where no package is installed."""
    folder = tmp_path_factory.mktemp("without")
    study = write_study(folder, replications=1, duration="200 ms")
    fairq.sweep(study)
    others = sorted({*(name.partition(".")[0] for name in lazy.PACKAGES.values()), *lazy.OTHERS} - {*PLOTTING})
    found = {}
    # what also plots names its own package where that alone is missing
    for packages, is_plotting in ((others, False), ([*others, *PLOTTING, "matplotlib.figure"], True)):
        calls = {name: call for name, call in CALLS.items() if (name.split()[0] in PLOTTING) is is_plotting}
        given = json.dumps([calls, packages, str(ROOT), str(SCENARIO), str(folder), str(study)])
        line = [sys.executable, "-c", WITHOUT]
        done = subprocess.run(line, input=given, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        found |= json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_what_is_missing_is_named_with_how_to_get_it(said, name):
    package = name.split()[0]
    line = said[name]
    assert re.search(rf"\bneeds the package {package}; write: pip install {package}$", line) and "\n" not in line


def test_each_package_that_is_loaded_late_has_a_call():
    packages = {name.partition(".")[0] for name in (*lazy.PACKAGES.values(), *lazy.OTHERS)}
    # these come with another: Dask with distributed, traitlets with anywidget
    assert packages - {"dask", "traitlets"} == {name.split()[0] for name in CALLS}
