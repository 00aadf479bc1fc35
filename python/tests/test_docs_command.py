"""`fairq docs`: which page some words mean, what is served, and what is refused."""

import doctest
import http.client
import json
import threading

import pytest

from fairq.cli import program
from fairq.core import serving
from fairq.manual import finding, site

PHASE = "Does a phase effect decide my result?"
TITLES = [
    {"page": "index.html", "title": "fairq", "heads": []},
    {"page": "guide/phase-effects.html", "title": PHASE, "heads": [["By how much", "m"]]},
    {"page": "guide/lab.html", "title": "How do I see inside a fair queue?", "heads": [["Keys", "keys"]]},
    {"page": "guide/lab-scenes.html", "title": "How do I add a scene to the lab?", "heads": []},
    {"page": "reference/constants.html", "title": "Where the defaults are from", "heads": [["fq_codel", "fq-codel"]]},
    {
        "page": "reference/disciplines.html",
        "title": "Disciplines",
        "heads": [["drr (scheduler)", "drr-scheduler"], ["fq_codel (design)", "fq-codel-design"]],
    },
]


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A site that stands in for that of `make docs`."""
    folder = tmp_path / "bundle"
    for row in TITLES:
        page = folder / row["page"]
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<!doctype html><title>{row['title']}</title>")
    (folder / "titles.json").write_text(json.dumps(TITLES))
    (folder / "mark.woff2").write_bytes(b"wOF2")
    monkeypatch.setattr(site, "BUNDLE", folder)
    return folder


def test_the_words_of_a_text_are_those_that_say_something():
    assert doctest.testmod(finding).failed == 0


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("", "index.html"),
        ("phase effect", "guide/phase-effects.html"),
        ("phase effects", "guide/phase-effects.html"),
        ("lab", "guide/lab.html"),
        ("scene", "guide/lab-scenes.html"),
        ("keys of the lab", "guide/lab.html#keys"),
        # the card, and not what only names it; its kind is nothing that must be asked for
        ("drr", "reference/disciplines.html#drr-scheduler"),
        ("fq_codel", "reference/disciplines.html#fq-codel-design"),
        ("fq-codel", "reference/disciplines.html#fq-codel-design"),
    ],
)
def test_the_page_with_the_best_title_is_found(words, page, document, bundle):
    found = document("docs", *words.split(), "--path")
    assert (found["page"], found["address"]) == (page, None)
    assert found["path"] == str(bundle / page.partition("#")[0])


def test_the_path_is_that_of_the_folder_or_of_the_page(fairq, bundle):
    assert fairq("docs", "--path") == (0, f"{bundle}\n", "")
    assert fairq("docs", "lab", "--path") == (0, f"{bundle / 'guide' / 'lab.html'}\n", "")


def test_words_that_no_title_has_name_the_near_ones(refused, bundle):
    said = refused("docs", "phase", "efect")
    assert said.startswith(
        "fairq: no title or heading has 'phase efect'; near are 'Does a phase effect decide my result?'"
    )
    # a word is not meant by another that only begins as it does
    assert "near are 'Does a phase effect decide my result?'" in refused("docs", "effectively")
    assert "near" not in refused("docs", "zzz") and "searches all text" in refused("docs", "zzz")


def test_without_the_site_it_says_what_builds_it(refused, monkeypatch, tmp_path):
    monkeypatch.setattr(site, "BUNDLE", tmp_path)
    said = refused("docs", "lab", "--no-browser")
    assert "the documentation is not built here" in said and "`make docs`" in said and said.count("\n") == 1
    assert refused("docs", "--path") == said


def test_a_port_that_is_none_is_refused(refused, bundle):
    assert "write one up to 65535" in refused("docs", "--no-browser", "--port", "65536")
    assert "not allowed with" in refused("docs", "--no-browser", "--path")


def test_the_browser_is_opened_at_the_page_unless_it_is_not_wanted(bundle, monkeypatch, capsys):
    opened, is_open = [], threading.Event()

    def open_it(address):
        opened.append(address)
        is_open.set()
        return True

    monkeypatch.setattr("webbrowser.open", open_it)
    monkeypatch.setattr(serving.Server, "serve_forever", lambda self: quiet or is_open.wait(10))
    quiet = False
    assert program.main(["docs", "keys"]) == 0
    assert [f"{address}\n" for address in opened] == [capsys.readouterr().out]
    assert opened[0].endswith("/guide/lab.html#keys")
    quiet = True
    assert program.main(["docs", "--no-browser"]) == 0
    assert len(opened) == 1


def test_no_browser_is_one_line_with_what_to_open(bundle, monkeypatch, capsys):
    said = threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr("fairq.core.streams.note", lambda text: (notes.append(text), said.set()))
    monkeypatch.setattr(serving.Server, "serve_forever", lambda self: said.wait(10))
    notes = []
    assert program.main(["docs"]) == 0
    assert notes == [f"no browser was found; open {capsys.readouterr().out.strip()}"]


def test_the_command_holds_its_document_to_its_schema(bundle, monkeypatch, document):
    monkeypatch.setattr(serving.Server, "serve_forever", lambda self: None)
    found = document("docs", "lab", "--no-browser")
    assert found["address"].startswith("http://127.0.0.1:") and found["address"].endswith("/guide/lab.html")


def test_a_reader_of_lines_has_the_whole_document_while_the_site_is_served(bundle, monkeypatch, capsys):
    said = []
    monkeypatch.setattr(serving.Server, "serve_forever", lambda self: said.append(capsys.readouterr().out))
    assert program.main(["docs", "lab", "--no-browser", "--json"]) == 0
    assert program.main(["docs", "lab", "--no-browser"]) == 0
    document, address = said
    assert document.endswith("}\n") and address.endswith("/guide/lab.html\n") and address.count("\n") == 1
    assert json.loads(document)["page"] == "guide/lab.html"


def test_the_pages_may_run_what_the_build_wrote_into_them_and_load_from_here_alone(bundle):
    with serving.Server(site.files(), policy=site.POLICY) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", served.server_port, timeout=10)
        for target, kind in [("/", "text/html"), ("/guide/lab.html?q=1", "text/html"), ("/mark.woff2", "font/woff2")]:
            connection.request("GET", target)
            answer = connection.getresponse()
            assert answer.read() and answer.getheader("Content-Type").partition(";")[0] == kind
        policy = dict(part.split(" ", 1) for part in answer.getheader("Content-Security-Policy").split("; "))
        assert policy["script-src"] == "'self' 'unsafe-inline'"
        assert policy["default-src"] == policy["connect-src"] == "'self'"
        served.shutdown()
        thread.join(10)
