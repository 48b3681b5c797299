"""Recipes parse, say what made a result in their name, and are the paper's where they say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sprintrec.errors import Mistake
from sprintrec.method import find_method, method_names
from sprintrec.methods.sprint import Settings, Sprint
from sprintrec.recipe import FOLDER, Recipe, find_recipe, recipe_names
from sprintrec.settings import read, to_mapping

# The paper's hyper-parameter table: learning rate, dropout, weight decay, d_m, d_ff, heads, rho, negatives. The same
# for all: 4 x 256 tokens, 1 + 4 layers, 20 slots, 150 epochs, patience 10.
PAPER = {
    "sports": (1e-4, 0.1, 0.0, 256, 1024, 4, 1.0, 100),
    "beauty": (1e-4, 0.1, 0.0, 256, 1024, 4, 1.0, 100),
    "toys": (1e-4, 0.1, 0.0, 256, 1024, 4, 1.0, 100),
    "scientific": (1e-4, 0.1, 0.0, 256, 1024, 4, 0.75, 100),
    "instruments": (1e-4, 0.1, 0.0, 256, 1024, 4, 0.75, 100),
    "games": (1e-4, 0.1, 0.0, 256, 1024, 4, 1.0, 100),
    "yelp": (1e-4, 0.2, 0.0, 512, 2048, 4, 1.0, 100),
    "arts": (1e-4, 0.2, 0.05, 512, 1024, 8, 1.0, 1000),
}


# ---- the recipes there are -----------------------------------------------------------------------


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_parses_and_makes_its_method(name: str) -> None:
    recipe = find_recipe(name)
    method = recipe.new_method()
    assert method.name() == recipe.method
    assert method.settings == recipe.settings == read(type(recipe.settings), to_mapping(recipe.settings))
    assert recipe.name == name
    assert recipe.codes is not None or not method.uses_codes


@pytest.mark.parametrize("name", method_names())
def test_a_method_alone_is_its_defaults(name: str) -> None:
    assert find_recipe(name) == Recipe(name, name, find_method(name).Settings())


def test_there_is_a_recipe_for_each_data_set_of_the_paper() -> None:
    assert {name for name in recipe_names() if name.startswith("paper-")} == {f"paper-{name}" for name in PAPER}


@pytest.mark.parametrize("data_set", PAPER)
def test_a_paper_recipe_is_the_papers_table(data_set: str) -> None:
    settings: Settings = find_recipe(f"paper-{data_set}").settings
    network, objective, training = settings.network, settings.objective, settings.training
    assert PAPER[data_set] == (
        training.rate,
        network.dropout,
        training.decay,
        network.width,
        network.inner,
        network.heads,
        objective.rho,
        objective.negatives,
    )
    assert (network.encoder_layers, network.decoder_layers, network.history) == (1, 4, 20)
    assert (training.epochs, training.patience, training.batch) == (150, 10, 1024)


@pytest.mark.parametrize("data_set", PAPER)
def test_a_paper_recipe_has_the_papers_method_and_nothing_beside(data_set: str) -> None:
    """Both levels contrasted at weight 1, two softmaxes added, stopped by codes; published: tau, warm-up, clipping."""
    settings: Settings = find_recipe(f"paper-{data_set}").settings
    network, objective, score, training = settings.network, settings.objective, settings.score, settings.training
    assert network.architecture == "encoder-decoder"
    beside = (network.item_vectors, network.item_texts, settings.ids.layers, score.texts, score.transitions)
    assert not any([network.project_memory, network.learn_codes_by_vector, network.time_embedding, *beside])
    assert (objective.token_level, objective.sid_level, objective.contrast) == (True, True, True)
    assert (objective.token_weight, objective.sid_weight, objective.smoothing) == (1.0, 1.0, 0.0)
    assert not objective.first_events
    assert objective.tau == (0.1 if data_set == "instruments" else 0.01)
    assert (score.form, score.tokens, score.vectors) == ("softmax", 1.0, 1.0)
    assert (training.stop_on, training.schedule, training.warmup, training.clip) == ("code", "cosine", 0.1, 1.0)


def test_a_paper_recipe_scores_two_levels_alone() -> None:
    method = find_recipe("paper-beauty").new_method()
    assert isinstance(method, Sprint)
    assert not method.uses_vectors
    assert method.slots == 20


def test_the_default_recipe_stops_on_items_with_a_code_each() -> None:
    recipe = find_recipe("default")
    assert recipe.codes is not None
    assert recipe.codes.endswith("-unique")
    assert recipe.settings.training.stop_on == "item"


# ---- changed recipes -----------------------------------------------------------------------------

CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "paper-beauty+rho=0.5": ("paper-beauty", {"rho": 0.5}),
    "paper-beauty+rho=0.25": ("paper-beauty", {"objective.rho": 0.25}),
    "default+codes=opq8": ("default", {"codes": "opq8"}),
    "default+codes=opq8+negatives=5+tau=0.1": ("default", {"tau": 0.1, "negatives": 5, "codes": "opq8"}),
    "paper-toys+sid_level=false": ("paper-toys", {"sid_level": False}),
    "paper-toys+ids.width=32": ("paper-toys", {"ids.width": 32}),
    "sasrec+loss=binary": ("sasrec", {"loss": "binary"}),
    "sprint+codes=8": ("sprint", {"codes": 8}),
    "default": ("default", {}),
}


@pytest.mark.parametrize(("name", "given"), CHANGED.items())
def test_a_changed_recipe_says_so_in_its_name(name: str, given: tuple[str, dict[str, Any]]) -> None:
    base, changes = given
    recipe = find_recipe(base, changes)
    assert recipe.name == name
    assert recipe.codes == (str(changes["codes"]) if "codes" in changes else find_recipe(base).codes)


def test_only_what_was_changed_is_changed() -> None:
    plain, other = (to_mapping(find_recipe("paper-beauty", changes).settings) for changes in ({}, {"rho": 0.5}))
    assert other.pop("objective") == {**plain.pop("objective"), "rho": 0.5}
    assert other == plain


# ---- recipes of one's own ------------------------------------------------------------------------


def own(folder: Path, text: str, name: str = "mine") -> str:
    (folder / f"{name}.toml").write_text(text)
    return str(folder / f"{name}.toml")


def test_a_recipe_of_ones_own_keeps_the_methods_defaults(tmp_path: Path) -> None:
    recipe = find_recipe(own(tmp_path, 'method = "sasrec"\nsmoothing = 0.1\n[encoder]\nlayers = 3'), {"epochs": 2})
    plain = find_method("sasrec").Settings()
    assert recipe.name == "mine+epochs=2"
    assert recipe.codes is None
    assert (recipe.settings.encoder.layers, recipe.settings.smoothing) == (3, 0.1)
    assert (recipe.settings.encoder.width, recipe.settings.encoder.heads) == (plain.encoder.width, plain.encoder.heads)
    assert (recipe.settings.training.batch, recipe.settings.training.epochs) == (plain.training.batch, 2)


@pytest.mark.parametrize("name", ["default", "sasrec"])
def test_it_may_not_go_by_the_name_of_another(tmp_path: Path, name: str) -> None:
    """A bare name is the recipe of the package: a row must not claim it."""
    with pytest.raises(Mistake, match=f"'{name}' is the name of a recipe of the package: rename the file"):
        find_recipe(own(tmp_path, 'method = "sasrec"', name))


def test_it_may_be_the_packages_own_file() -> None:
    assert find_recipe(str(FOLDER / "default.toml")) == find_recipe("default")


MISTAKES = {
    "no TOML": ("method = ", "is no valid TOML"),
    "no method": ("[network]\nwidth = 8", "does not say which method it is for"),
    "unknown method": ('method = "sprimt"', "unknown method 'sprimt': did you mean 'sprint'"),
    "unknown group": ('method = "sprint"\n[netwrok]\nwidth = 8', "unknown setting 'netwrok': did you mean 'network'"),
    "unknown key": (
        'method = "sprint"\n[network]\nwidht = 8',
        r"unknown setting 'network\.widht': did you mean 'width'",
    ),
    "wrong kind": ('method = "sprint"\n[network]\nwidth = "8"', r"setting 'network\.width' must be of kind int"),
    "unknown word": ('method = "sasrec"\nloss = "softmaxx"', "setting 'loss' is 'softmaxx': did you mean 'softmax'"),
    "no group": ('method = "sasrec"\nencoder = 3', "setting 'encoder' is a group"),
    "codes of no name": ('method = "sprint"\ncodes = 4', "codes names a code table"),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Mistake, match=said):
        find_recipe(own(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("defualt", "unknown recipe 'defualt': did you mean 'default'"),
        ("nowhere/mine.toml", r"there is no file nowhere/mine\.toml"),
    ],
)
def test_an_unknown_recipe_is_a_mistake(name: str, said: str) -> None:
    with pytest.raises(Mistake, match=said):
        find_recipe(name)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"roh": 0.5}, "unknown setting 'roh': did you mean 'rho'"),
        ({"width": 8}, "setting 'width' is ambiguous"),
        ({"rho": "half"}, r"setting 'objective\.rho' must be of kind float"),
    ],
)
def test_a_change_that_makes_no_sense_is_a_mistake(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Mistake, match=said):
        find_recipe("default", changes)
