"""The settings of the company sign-in."""

import re
from pathlib import Path

import pytest

from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import Misconfigured

RULE = '[[oidc.rules]]\nclaim = "groups"\nvalue = "traders"\nrole = "manager"\n'
PROVIDER = '[oidc]\nissuer = "https://login.example/corp/"\nclient_id = "tranche"\n'
SECRET = 'oidc_secret = "hidden"\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path))
    return tmp_path


def told(home: Path, text: str) -> Settings:
    """The settings of this file, which only its owner can read."""
    path = home / "tranche.toml"
    path.write_text(text)
    path.chmod(0o600)
    return Settings.load()


def test_a_provider(home: Path) -> None:
    """Issuer, client and rules are enough; the provider describes itself below its issuer."""
    settings = told(home, SECRET + PROVIDER + RULE)
    assert settings.company.oidc is not None
    assert settings.company.oidc.metadata_url == "https://login.example/corp/.well-known/openid-configuration"
    assert (settings.company.oidc.scope, settings.company.oidc.name_claim) == (
        "openid email profile",
        "email",
    )
    assert settings.company_address == "http://127.0.0.1:8501"
    assert "hidden" not in repr(settings)


def test_where_people_are_sent_back_to(home: Path) -> None:
    """To the first of the origins, unless the provider's table names an address."""
    origins = 'origins = ["https://desk.example", "https://other.example"]\n'
    assert told(home, origins + SECRET + PROVIDER + RULE).company_address == "https://desk.example"
    other = PROVIDER + 'address = "https://other.example"\n'
    assert told(home, origins + SECRET + other + RULE).company_address == "https://other.example"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (PROVIDER + RULE, "oidc needs oidc_secret"),
        (SECRET + PROVIDER, r"Setting oidc\.rules \(in .*\): is required"),
        (SECRET + PROVIDER + "rules = []\n", r"Setting oidc\.rules .*: may not be empty"),
        (SECRET + PROVIDER + RULE + 'grant = "x"\n', r"Setting oidc\.rules\.0\.grant"),
        (SECRET + PROVIDER.replace("https", "http") + RULE, r"Setting oidc\.issuer .*https address"),
        (SECRET + PROVIDER.replace("corp/", "corp/?x") + RULE, r"Setting oidc\.issuer .*no \?"),
        (SECRET + PROVIDER + 'scope = "email"\n' + RULE, "the word openid"),
        (SECRET + PROVIDER + 'address = "https://desk.example/x"\n' + RULE, "nothing after it"),
        ('host = "0.0.0.0"\n' + SECRET + PROVIDER + RULE, "oidc needs origins or oidc.address"),
    ],
)
def test_wrong_settings(home: Path, text: str, match: str) -> None:
    """What is missing or wrong is named, down to the rule."""
    with pytest.raises(Misconfigured, match=match):
        told(home, text)


def test_a_rule_beyond_its_role(home: Path) -> None:
    """A grant in a rule that can't be is found when the desk starts, and not when somebody signs in."""
    with pytest.raises(Misconfigured, match=r"Setting oidc\.rules: a viewer can't change deals"):
        connect.installation(
            told(home, SECRET + PROVIDER + RULE.replace("manager", "viewer") + 'deals = "write"\n')
        )


def test_the_secret_of_a_readable_file(home: Path) -> None:
    """A file with the client secret must be readable by its owner alone."""
    told(home, SECRET + PROVIDER + RULE)
    (home / "tranche.toml").chmod(0o644)
    with pytest.raises(Misconfigured, match="holds oidc_secret and others can read it"):
        Settings.load()


def test_the_secret_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come from the environment instead."""
    monkeypatch.setenv("TRANCHE_OIDC_SECRET", "hidden")
    auth = connect.installation(told(home, PROVIDER + RULE)).secrets["auth"]
    assert auth["company"]["client_secret"] == "hidden"
    assert auth["redirect_uri"] == "http://127.0.0.1:8501/oauth2callback"
    assert len(auth["cookie_secret"]) == 43


def test_no_provider(home: Path) -> None:
    """Without a provider there is nothing of it."""
    settings = told(home, "demo = false\n")
    assert (settings.company.oidc, settings.company_address) == (None, "")
    context = connect.installation(settings)
    assert (context.company, context.secrets) == (None, {})


def test_the_documented_provider(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of docs/company-sign-in.md are accepted."""
    monkeypatch.setenv("TRANCHE_OIDC_SECRET", "hidden")
    page = (Path(__file__).parents[2] / "docs" / "company-sign-in.md").read_text(encoding="utf-8")
    settings = told(home, "\n".join(re.findall(r"```toml\n(.*?)```", page, re.S)))
    assert settings.company.oidc is not None
    assert [rule.role for rule in settings.company.oidc.rules] == ["admin", "manager"]
    assert connect.installation(settings).company is not None
