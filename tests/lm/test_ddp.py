"""Two processes compute what one would."""

import pytest
from training_runs import TINY, train

from lm.metrics_file import read


@pytest.mark.slow
@pytest.mark.parametrize("model", ["lstm", "transformer"])
@pytest.mark.parametrize("window", ["null", "9"])
def test_losses_are_those_of_one_process_with_the_same_global_batch(tmp_path, model, window):
    same = [
        *TINY,
        f"model={model}",
        "model.dropout=0",
        "model.network.dropout=0",
        "name=x",
        f"data.window={window}",
        "data.limit=61",
    ]
    train(tmp_path / "one", *same, "data.batch_size=6")
    train(tmp_path / "two", *same, "data.batch_size=3", "trainer=ddp_cpu")
    one, two = (read(tmp_path / folder / "runs/x/metrics.csv") for folder in ("one", "two"))
    assert len(one) == len(two) > 6
    for first, second in zip(one, two, strict=True):
        assert first.keys() == second.keys()
        for name in first:
            if not name.startswith("time/"):
                assert first[name] == pytest.approx(second[name], rel=1e-4), name
