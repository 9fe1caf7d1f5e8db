import pytest
import torch
from concord.lm.optimisation import Horizon, optimizer, schedule

HORIZON = Horizon(total=100, first_epoch=10)


def test_one_cycle_goes_up_then_down():
    factors = [schedule(HORIZON, "one_cycle", warmup=0.3).factor(step) for step in range(100)]
    assert factors[0] == pytest.approx(0.04)
    assert max(factors) == factors[30] == pytest.approx(1.0)
    assert factors[:31] == sorted(factors[:31])
    assert factors[30:] == sorted(factors[30:], reverse=True)
    assert factors[-1] == pytest.approx(0.0001)


def test_warm_up_is_linear_over_an_epoch_then_a_cosine():
    made = schedule(HORIZON, "warmup_cosine", warmup_epochs=1)
    assert [made.factor(step) for step in range(10)] == pytest.approx([(k + 1) / 10 for k in range(10)])
    assert made.factor(10) == pytest.approx(1.0)
    assert made.factor(99) == pytest.approx(0.0)
    assert made.factor(10 + 89 // 2) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("against", "scales"), [("previous", [1, 1, 1 / 4, 1 / 4, 1 / 16]), ("best", [1, 1, 1 / 4, 1 / 16, 1 / 64])]
)
def test_annealing_listens_to_the_previous_validation_or_to_the_best(against, scales):
    made = schedule(HORIZON, "anneal", divisor=4, against=against)
    found = []
    for loss in (5.0, 4.0, 4.5, 4.2, 4.2):
        made.after_validation(loss)
        found.append(made.factor(0))
    assert found == scales
    again = schedule(HORIZON, "anneal", divisor=4, against=against)
    again.load_state_dict(made.state_dict())
    again.after_validation(4.2)
    assert again.factor(0) == scales[-1] / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda p: optimizer(p, "lion", 1.0),
            "model.optimizer.name=lion: no such optimiser; available: sgd, adam, adamw",
        ),
        (lambda p: optimizer(p, "sgd", 0.0), "model.optimizer.lr=0.0: the learning rate must be above 0"),
        (lambda p: schedule(HORIZON, "step"), "model.scheduler.name=step: no such schedule; available: constant"),
        (lambda p: schedule(HORIZON, "anneal", against="worst"), "model.scheduler.against=worst: must be previous or best"),
    ],
)
def test_wrong_names_are_told_what_there_is(call, message):
    with pytest.raises(ValueError, match=message):
        call([torch.nn.Parameter(torch.zeros(1))])
