"""The pages of the documentation show what their commands print."""

import subprocess
import sys


def test_every_command_of_the_pages_prints_what_is_shown(pytestconfig):
    script = pytestconfig.rootpath / "scripts" / "paste_outputs.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_between_pages_leads_somewhere(pytestconfig):
    import re

    root = pytestconfig.rootpath
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "papers").glob("*/*.md")]
    broken = []
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(root)}: {target}")
    assert broken == []
