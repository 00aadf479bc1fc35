"""Words of other tools, and slips: the one table of all near misses."""

import pytest

import fairq
from fairq.core.near import foreign, meant, near_miss

LINK = ("name", "from", "to", "rate", "delay", "queue", "buffer", "loss", "jitter")
FLOW = ("name", "from", "to", "traffic", "transport", "connection", "start", "stop", "weight", "class", "tos", "count")
MEASURE = ("warm_up", "duration", "seed", "replications")


@pytest.mark.parametrize(
    ("known", "word", "said"),
    [
        (LINK, "latency", "delay"), (LINK, "bandwidth", "rate"), (LINK, "src", "from"), (LINK, "dst", "to"),
        (LINK, "limit", "buffer"), (LINK, "qdisc", "queue"), (LINK, "size", "buffer"), (LINK, "Loss-Rate", "loss"),
        (FLOW, "flows", "count"), (FLOW, "cwnd", "connection = { initial_window = 10 }"), (FLOW, "dscp", "tos"),
        (FLOW, "rwnd", "connection = { receive_window = 4000 }"), (FLOW, "tcp", "transport"),
        (FLOW, "mss", 'traffic = { kind = "ftp", packet = "1500 B" }'), (FLOW, "start_time", "start"),
        (FLOW, "initial_window", "connection = { initial_window = 10 }"), (MEASURE, "runs", "replications = 3"),
        (MEASURE, "seeds", "replications = 3"), (MEASURE, "time", "duration"),
        (("ftp", "constant_rate", "web"), "tcp", "ftp"),
        (("ftp", "constant_rate"), "voip", '{ kind = "constant_rate", rate = "100 kbit/s" }'),
        (("fifo", "fq", "tail_drop"), "bfifo", "fifo"),
        (("fifo", "fq_codel"), "mq", "the queue of one ring, as fq_codel"),
        (("dual_source", "dual_destination", "triple"), "dual-dsthost", "dual_destination"),
        (("fifo", "fq_codel", "fq"), "fq codel", None), (("rtt", "rate"), "latency", "rtt"),
    ],
)  # fmt: skip
def test_a_word_of_others_is_told_by_its_name_here(known, word, said):
    assert meant(word, known) == said
    told = near_miss(word, known)
    assert told == f"; did you mean {said or 'fq_codel'}?" if " " not in (said or "") else f"; write {said}"


def test_the_table_has_words_of_many_tools_and_no_word_means_itself():
    assert len(foreign()) >= 100
    for word, lines in foreign().items():
        assert word == word.lower() and all(name and write for name, write in lines), word
        assert len({name for name, _ in lines}) == len(lines), word


def test_options_and_arguments_of_python_know_the_same_words(refused):
    asked = ("compare", "--rate", "5Mbit/s", "--flows", "cubic")
    assert "did you mean --rtt?" in refused(*asked, "--latency", "20ms")
    assert "did you mean --buffer?" in refused(*asked, "--rtt", "20ms", "--limit", "9packets")
    assert "did you mean run?" in refused("rnu", "x.toml")
    assert "did you mean demers1990?" in refused("reproduce", "demers")
    with pytest.raises(fairq.UsageError, match="there is no argument latency; did you mean rtt"):
        fairq.compare(rate="5Mbit/s", flows="cubic", latency="20ms")


def test_a_file_of_another_kind_is_told_by_the_command_that_reads_it(refused, dumbbell, capture, tmp_path):
    line = ("--rate", "1Mbit/s", "--buffer", "9packets")
    assert f"{capture}: is a capture and no scenario; write fairq replay {capture}" in refused("run", capture)
    assert f"{dumbbell}: is a scenario and no capture; write fairq run {dumbbell}" in refused("replay", dumbbell, *line)
    assert "0s makes one burst of the capture" in refused("replay", capture, *line, "--gap-max", "0s")
    for words in (("replay", tmp_path / "no.pcap", *line), ("topology", tmp_path / "no.gml")):
        said = refused(*words)
        assert "No such file" in said and "os error" not in said


def test_a_word_of_a_question_is_no_field_of_its_scenario(refused, tmp_path):
    study = tmp_path / "study.toml"
    asked = '[study]\ncompare = { rate = "10Mbit/s", rtt = "20ms", flows = "cubic", duration = "1s", warm_up = "1s" }\n'
    for path in ("queue", "buffer", "flows"):
        study.write_text(f'{asked}[[axes]]\nname = "x"\npath = "{path}"\nvalues = ["fifo", "fq"]\n')
        said = refused("sweep", study, "--dry-run")
        assert f'{path}: the question says this itself, and its lists are axes; write compare = {{ {path} = "' in said
