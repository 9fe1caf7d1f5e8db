from concord.runs.metrics_file import MetricsFile, read


def test_rows_are_appended_and_new_metrics_add_columns(tmp_path):
    file = tmp_path / "metrics.csv"
    metrics = MetricsFile(file)
    metrics.log_metrics({"train/loss": 0.1 + 0.2}, step=1)
    metrics.log_metrics({"train/loss": 2.0, "valid/perplexity": 7.5}, step=2)
    assert read(file) == [{"step": 1.0, "train/loss": 0.1 + 0.2}, {"step": 2.0, "train/loss": 2.0, "valid/perplexity": 7.5}]


def test_reopening_loses_nothing(tmp_path):
    file = tmp_path / "metrics.csv"
    MetricsFile(file).log_metrics({"a": 1.0}, step=1)
    again = MetricsFile(file)
    again.log_metrics({"a": 2.0}, step=2)
    assert [row["a"] for row in read(file)] == [1.0, 2.0]
    assert again.rows == 2


def test_what_came_after_the_checkpoint_is_cut_off(tmp_path):
    """A run that went on after its checkpoint and one that stopped there leave the same file."""
    disturbed, undisturbed = MetricsFile(tmp_path / "a.csv"), MetricsFile(tmp_path / "b.csv")
    for metrics in (disturbed, undisturbed):
        metrics.log_metrics({"a": 1.0}, step=1)
    disturbed.log_metrics({"a": 2.0, "b": 5.0}, step=2)
    disturbed.keep(1)
    for metrics in (disturbed, undisturbed):
        metrics.log_metrics({"c": 1.0}, step=2)
    assert disturbed.file.read_text() == undisturbed.file.read_text()
