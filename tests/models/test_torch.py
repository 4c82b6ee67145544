"""What is read of a torch network decides as torch does; those of other kinds are scored, and say why they are not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from dueto import Explainer, FeatureSpace, InputError, TorchModel
from dueto.models import as_model
from dueto.models.additive import Additive
from dueto.models.network import Network
from models.tables import GOOD, MISSING, NUMBERS, TEXT, adversarial
from models.test_importers import check

torch = pytest.importorskip("torch")
nn = torch.nn
SCALER = StandardScaler().fit(NUMBERS)
MIXED = TEXT[["a", "b", "job"]].assign(b=NUMBERS["b"])
CODER = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["job"])).fit(MIXED)


def net(*layers, inputs=5, double=False):
    """Layers trained a little; a number n stands for a linear layer of n outputs."""
    torch.manual_seed(0)
    built, width = [], inputs
    for layer in layers:
        built.append(nn.Linear(width, layer) if isinstance(layer, int) else layer)
        width = layer if isinstance(layer, int) else width
    found = nn.Sequential(*built)
    return found.double() if double else found


def trained(module, table, scaler, target=GOOD):
    """A few steps of gradient descent on what `TorchModel` scores, so that both outcomes occur."""
    model = TorchModel(module, scaler=scaler)
    X, y = torch.from_numpy(model.tensor(table)), torch.from_numpy(target.astype(int))
    steps = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(40):
        given = module(X).reshape(len(X), -1)
        given = given if model.probabilities else given.softmax(1) if given.shape[1] > 1 else given.sigmoid()
        score = given[:, 1] if given.shape[1] > 1 else given[:, 0]
        steps.zero_grad()
        nn.functional.binary_cross_entropy(score, y.to(score.dtype)).backward()
        steps.step()
    return TorchModel(module, scaler=scaler)


CASES = {
    "margin": (lambda: net(6, nn.ReLU(), 4, nn.ReLU(), 1), Network),
    "sigmoid": (lambda: net(6, nn.ReLU(), 1, nn.Sigmoid()), Network),
    "two outputs": (lambda: net(6, nn.ReLU(inplace=True), 2), Network),
    "softmax": (lambda: net(6, nn.ReLU(), 2, nn.Softmax(dim=1)), Network),
    "no bend": (lambda: net(6, 3, 1), Additive),
    "bends here and there": (lambda: net(6, 5, nn.ReLU(), 4, nn.Identity(), 3, nn.ReLU(), 2), Network),
    "dropout, flat": (lambda: net(nn.Flatten(), 6, nn.ReLU(), nn.Dropout(0.5), 1, nn.Flatten(0)), Network),
    "nested": (lambda: nn.Sequential(net(6, nn.ReLU()), net(1, nn.Sigmoid(), inputs=6)), Network),
    "no bias": (lambda: nn.Sequential(nn.Linear(5, 6, bias=False), nn.ReLU(), nn.Linear(6, 1)), Network),
    "double": (lambda: net(6, nn.ReLU(), 2, double=True), Network),
}


@pytest.mark.parametrize("threshold", [0.5, 0.3])
@pytest.mark.parametrize("case", CASES)
def test_the_side_of_a_margin_is_torchs_decision(case, threshold):
    make, form = CASES[case]
    model = as_model(trained(make(), NUMBERS, SCALER), FeatureSpace.infer(NUMBERS), threshold=threshold)
    assert model.structure is not None, model.unstructured
    assert isinstance(model.structure.form, form)
    assert {-1, 1} <= set(check(model, adversarial(model.structure)).tolist())


def test_the_score_is_what_torch_gives():
    module = net(6, nn.ReLU(), nn.Dropout(0.5), 1)
    model = TorchModel(module, scaler=SCALER)
    X = torch.from_numpy(SCALER.transform(NUMBERS).astype(np.float32))
    expected = torch.sigmoid(module.eval()(X))[:, 0].detach().numpy()
    assert np.abs(model.predict_proba(NUMBERS) - expected).max() < 1e-6
    module.train()
    nn.init.zeros_(module[0].weight)  # what is explained stays as it was
    assert np.abs(model.predict_proba(NUMBERS) - expected).max() < 1e-6


def test_either_of_two_outputs_may_be_the_desired_one():
    fitted = trained(net(6, nn.ReLU(), 2), NUMBERS, SCALER)
    for desired in (0, 1):
        model = as_model(fitted, FeatureSpace.infer(NUMBERS), desired=desired)
        check(model, adversarial(model.structure))
        X = model.space.encode(NUMBERS)
        assert np.array_equal(model.score(X), fitted.predict_proba(NUMBERS)[:, desired])


def test_outputs_that_almost_cancel_are_left_to_torch():
    """The margin of two outputs is off by the rounding of each of them, not of their difference."""
    module = net(6, nn.ReLU(), 2)
    with torch.no_grad():
        module[-1].weight += 1e4
    model = as_model(TorchModel(module, scaler=SCALER), FeatureSpace.infer(NUMBERS))
    assert model.structure is not None, model.unstructured
    assert model.structure.slack > 1e-3
    check(model, adversarial(model.structure))


def test_labels_are_coded_by_the_scaler():
    fitted = trained(net(5, nn.ReLU(), 1, inputs=CODER.transform(MIXED).shape[1]), MIXED, CODER)
    model = as_model(fitted, FeatureSpace.infer(MIXED[["job", "b", "a"]]))  # found by name
    assert model.structure is not None, model.unstructured
    check(model, adversarial(model.structure))
    explainer = Explainer(fitted, MIXED)
    assert str(explainer.rule(int(explainer.refused[0])).verdict).startswith("proved by")


def test_columns_are_taken_by_name_and_a_bare_module_takes_all():
    module = net(4, nn.ReLU(), 1, inputs=2)
    scaler = MinMaxScaler().fit(NUMBERS[["b", "a"]].to_numpy())
    named = as_model(TorchModel(module, columns=["b", "a"], scaler=scaler), FeatureSpace.infer(NUMBERS))
    assert [named.space.names[j] for j in named.structure.columns.owner] == ["b", "a"]
    check(named, adversarial(named.structure))
    for table in (NUMBERS[["a", "b"]], NUMBERS[["a", "b"]].to_numpy()):
        bare = as_model(module, FeatureSpace.infer(table))
        assert bare.name == "TorchModel"
        check(bare, adversarial(bare.structure))
    with pytest.raises(InputError, match="fitted on 2 columns, but the data has 5"):
        as_model(module, FeatureSpace.infer(NUMBERS))


@pytest.mark.parametrize(
    ("layers", "says"),
    [
        ((6, nn.Tanh(), 1), "Linear layers with ReLUs between them, not with Tanh"),
        ((nn.ReLU(), 6, 1), "not with ReLU"),
        ((6, nn.BatchNorm1d(6), 1), "not with BatchNorm1d"),
        ((6, nn.ReLU()), "if its last layer is Linear"),
        ((6, nn.ReLU(), 3), "two classes, not with 3 outputs"),
        ((6, nn.ReLU(), 2, nn.Sigmoid()), "two classes, not with 2 outputs Sigmoid"),
    ],
)
def test_what_is_not_understood_says_why(layers, says):
    model = as_model(TorchModel(net(*layers)), FeatureSpace.infer(NUMBERS), desired=None if layers[-1] == 1 else 1)
    assert model.structure is None
    assert says in model.unstructured
    assert (model.score(model.space.encode(NUMBERS)) >= 0).all()


def test_a_scaler_that_mixes_columns_and_missing_values_are_not_read():
    mixed = as_model(TorchModel(net(4, 1), scaler=PCA(5).fit(NUMBERS)), FeatureSpace.infer(NUMBERS))
    assert "'scaler', PCA, is not known to work on each column for itself" in mixed.unstructured
    holes = as_model(TorchModel(net(4, 1), scaler=StandardScaler().fit(MISSING)), FeatureSpace.infer(MISSING))
    assert "a missing value of 'b' reaches it" in holes.unstructured


def test_modules_that_are_no_scores_are_refused():
    class Own(nn.Module):
        """No sequence."""

    with pytest.raises(TypeError, match=r"takes a torch\.nn.Sequential, got Own; give the Sequential inside it"):
        TorchModel(Own())
    with pytest.raises(InputError, match="only at its end"):
        TorchModel(net(2, nn.Sigmoid(), 1))
    with pytest.raises(InputError, match="make it dim=1"):
        TorchModel(net(2, nn.Softmax(dim=0)))


def test_a_torch_model_can_be_sent_to_another_process():
    model = as_model(trained(net(6, nn.ReLU(), 1), NUMBERS, SCALER), FeatureSpace.infer(NUMBERS))
    X = adversarial(model.structure, 100)
    sent = pickle.loads(pickle.dumps(model))
    assert np.array_equal(sent.structure.margin(X), model.structure.margin(X))
    assert np.array_equal(sent.score(X), model.score(X))
