"""A LightningModule that is not ours, watched by one callback, under both names of Lightning."""

import importlib
import math
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import concord
import pytest
import torch
from concord.errors import UserError
from concord.runs.metrics_file import read
from torch.utils.data import DataLoader
from watched_trainings import MEAN, Network, batch, loss_of, same, small_sets, vocabulary

PACKAGES = ["pytorch_lightning", "lightning.pytorch"]
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*`srun` command is available"),
    pytest.mark.filterwarnings("ignore:.*isinstance.treespec, LeafSpec.*"),
    pytest.mark.filterwarnings("ignore:.*smaller than the logging interval"),
    pytest.mark.filterwarnings("ignore:.*already configured with model summary"),
    pytest.mark.filterwarnings("ignore:.*found 1 module.s. in eval mode:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*in eval mode at the start of training"),
    pytest.mark.filterwarnings("ignore:.*exists and is not empty"),
]


def module_of(package: ModuleType) -> Any:
    class Mine(package.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.save_hyperparameters({"size": 48})
            self.network = Network()

        def training_step(self, ids: torch.Tensor, _: int) -> torch.Tensor:
            return loss_of(self.network, ids)

        def validation_step(self, ids: torch.Tensor, _: int) -> None:
            self.log("val_loss", loss_of(self.network, ids), batch_size=len(ids))

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 3e-3)

    torch.manual_seed(1)
    return Mine()


def fit(package: ModuleType, folder: Path, *callbacks: Any, epochs: int = 2, **settings: Any) -> Any:
    told = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    told |= {"enable_model_summary": False, "accumulate_grad_batches": 2, "default_root_dir": folder, "max_epochs": epochs}
    module, trainer = module_of(package), package.Trainer(callbacks=[*callbacks], **told | settings)
    train, valid = (DataLoader([*map(batch, steps)], batch_size=None) for steps in (range(8), [100]))
    trainer.fit(module, train, valid)
    return module, trainer


@pytest.mark.parametrize("name", PACKAGES)
def test_any_module_is_watched_and_trains_as_before(name: str, tmp_path: Path) -> None:
    package = pytest.importorskip(name)
    watch = concord.LightningWatch(
        small_sets(), vocabulary(), tmp_path / "run", "network", every=3, at_words=[500], seed=1, show=False
    )
    assert isinstance(watch, package.Callback)
    best = importlib.import_module(f"{name}.callbacks").EarlyStopping(MEAN, mode="max", patience=9)
    watched, _ = fit(package, tmp_path, watch, best)
    assert same(watched, fit(package, tmp_path)[0])
    rows = read(tmp_path / "run/metrics.csv")
    assert {0, 3, 4, 6, 8} <= {row["step"] for row in rows}
    assert float(best.best_score) == max(row[MEAN] for row in rows if row["step"] in (4, 8))
    assert rows[-1]["progress/words_seen"] == watch.words_seen == 2 * sum(int((batch(step) > 1).sum()) for step in range(8))
    # Only what was just measured: Lightning remembers the last validation's numbers.
    assert {row["step"] for row in rows if not math.isnan(row.get("val_loss", math.nan))} == {4, 8}
    assert (tmp_path / "run/checkpoints/chck_500.ckpt").exists()
    assert (tmp_path / "run/report.html").exists()
    # The weights that were kept, asked again, give the numbers of the moment they were kept at.
    saved = torch.load(tmp_path / "run/checkpoints/chck_500.ckpt", weights_only=False)
    again = module_of(package)
    again.load_state_dict(saved["state_dict"])
    table = concord.Watcher(again.network, vocabulary(), small_sets(), tmp_path / "again", show=False)(0)
    (row,) = [row for row in rows if row["step"] == saved["global_step"]]
    assert table.metrics[MEAN] == row[MEAN]


def test_the_module_itself_or_a_function_of_it_can_be_asked(tmp_path: Path) -> None:
    import pytorch_lightning as pl

    function = concord.LightningWatch(small_sets(), vocabulary(), tmp_path / "f", lambda module: module.network, show=False)
    named = concord.LightningWatch(small_sets(), vocabulary(), tmp_path / "n", "network", show=False)
    fit(pl, tmp_path, function, epochs=1)
    fit(pl, tmp_path, named, epochs=1)
    assert function.watcher.last.metrics[MEAN] == named.watcher.last.metrics[MEAN]
    wrong = concord.LightningWatch(small_sets(), vocabulary(), tmp_path / "w", "netwrok", show=False)
    with pytest.raises(UserError, match="model='netwrok': Mine has no such attribute"):
        fit(pl, tmp_path, wrong)


def test_a_probe_and_a_validation_at_one_step_keep_the_numbers_of_both(tmp_path: Path) -> None:
    import pytorch_lightning as pl

    watch = concord.LightningWatch(small_sets(), vocabulary(), tmp_path / "run", "network", every=2, show=False)
    fit(pl, tmp_path, watch)
    rows = read(tmp_path / "run/metrics.csv")
    losses = {row["step"]: row["val_loss"] for row in rows if not math.isnan(row.get("val_loss", math.nan))}
    assert losses.keys() == {4, 8}
    assert losses[4] != losses[8]


@pytest.mark.parametrize("strategy", ["FSDPStrategy", "DeepSpeedStrategy", "ModelParallelStrategy"])
def test_weights_that_are_split_over_processes_are_refused(strategy: str, tmp_path: Path) -> None:
    import pytorch_lightning as pl
    from pytorch_lightning import strategies

    # None of them can be set up without a GPU.
    trainer = SimpleNamespace(strategy=object.__new__(getattr(strategies, strategy)))
    watch = concord.LightningWatch(small_sets(), vocabulary(), tmp_path / "watch")
    with pytest.raises(UserError, match=f"{strategy} shards the weights"):
        watch.on_fit_start(trainer, module_of(pl))
