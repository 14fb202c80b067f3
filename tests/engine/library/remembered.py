"""Twenty messages among five hundred, and what somebody who looks for one of them may ask."""

from itertools import product
from typing import NamedTuple

from tests.builders import answer, user


class Remembered(NamedTuple):
    """A message that somebody looks for."""

    said: str
    words: str
    """A query in its own words."""
    question: str
    """In other words."""
    queries: tuple[str, ...]
    """What a model may make of the question."""


REMEMBERED = [
    Remembered(
        "The nightly backup of the Postgres database failed because the disk of the NAS was full.",
        "nightly backup failed NAS full",
        "why did the copy of our database not get made at night?",
        ("database backup failed", "disk full", "nightly backup", "postgres dump error"),
    ),
    Remembered(
        "To rotate the signing keys without logging everybody out, accept the old one for a week.",
        "rotate signing keys old week",
        "how can we change the secret for tokens while users stay signed in?",
        ("rotate keys", "signing key rotation", "token secret change", "logged out users"),
    ),
    Remembered(
        "Use ripgrep with --pcre2 if the pattern needs a lookbehind; the default engine has none.",
        "ripgrep pcre2 lookbehind",
        "which flag lets grep match something only if another word comes before it?",
        ("grep lookbehind", "regex flag", "ripgrep option", "pcre pattern"),
    ),
    Remembered(
        "My sourdough loaf is flat: the dough stood for nine hours at 28 degrees and overproofed.",
        "sourdough loaf flat overproofed",
        "what went wrong with the bread that did not rise?",
        ("sourdough bread", "dough overproofed", "flat loaf", "baking problem"),
    ),
    Remembered(
        "The train from Hamburg to Copenhagen now takes the tunnel, so the ferry is not needed.",
        "Hamburg Copenhagen tunnel ferry",
        "do I still have to go by boat on the way to Denmark?",
        ("copenhagen ferry", "train to denmark", "ferry hamburg", "tunnel copenhagen"),
    ),
    Remembered(
        "Textual drops key events while a blocking call runs; move the call to a thread worker.",
        "Textual key events blocking thread worker",
        "why is typing slow and letters get lost in my terminal program?",
        ("lost key events", "textual blocking", "typing dropped", "thread worker"),
    ),
    Remembered(
        "For the lease in Ghent the landlord must give three months of notice in writing.",
        "lease Ghent landlord notice",
        "how long before can the owner of my flat throw me out?",
        ("landlord notice", "lease termination months", "rental contract", "flat notice period"),
    ),
    Remembered(
        "Kubernetes kills the pod with exit code 137 when it needs more memory than its limit.",
        "Kubernetes pod 137 memory limit",
        "what does it mean that the container was killed with code 137?",
        ("exit code 137", "pod killed memory", "oom killed", "container memory limit"),
    ),
    Remembered(
        "Ibuprofen and the blood thinner do not go together, ask the pharmacist for paracetamol.",
        "ibuprofen blood thinner paracetamol",
        "which painkiller is safe with grandfather's medicine for the heart?",
        ("ibuprofen", "paracetamol", "blood thinner", "painkiller pharmacist"),
    ),
    Remembered(
        "A parser combinator reads better here than the table, and it gives us error recovery.",
        "parser combinator table error recovery",
        "did we decide on how the language is going to be parsed?",
        ("parser combinator", "parser decision", "parsing table", "error recovery parser"),
    ),
    Remembered(
        "The invoice of the roofer names 19 % of tax twice, so 412 euros have to be paid back.",
        "invoice roofer tax twice",
        "how much money did the man who mended our roof charge too much?",
        ("roofer invoice", "roof bill", "invoice tax", "paid back euros"),
    ),
    Remembered(
        "Renaming the column needs two migrations: first add and copy, then drop the old one.",
        "renaming column two migrations drop",
        "what is the safe way to rename a column in production?",
        ("rename column migration", "column migration", "drop old column", "two migrations"),
    ),
    Remembered(
        "Spanish uses the subjunctive after 'cuando' if the event lies in the future.",
        "Spanish subjunctive cuando future",
        "when do I need that special form of verbs after cuando?",
        ("subjunctive cuando", "spanish subjunctive", "verb mood", "cuando future"),
    ),
    Remembered(
        "The laptop stays awake with HandleLidSwitch=ignore in logind.conf, whatever its lid does.",
        "lid logind HandleLidSwitch awake",
        "how do I stop my notebook from sleeping once it is shut?",
        ("HandleLidSwitch", "lid sleep", "laptop suspend", "logind lid"),
    ),
    Remembered(
        "The tomato leaves curl because they get too much nitrogen; water less and skip the feed.",
        "tomato leaves curl nitrogen",
        "what is the matter with the plants on the balcony, their leaves roll up?",
        ("tomato leaves", "leaves curl", "plant nitrogen", "balcony tomato"),
    ),
    Remembered(
        "Cache the embeddings by the hash of the text, then the second run costs nothing.",
        "cache embeddings hash second run",
        "how could we avoid to pay again for vectors that were made before?",
        ("cache embeddings", "embedding cost", "vector cache", "embeddings hash"),
    ),
    Remembered(
        "The cello part of the second movement is in tenor clef from bar 48 to bar 61.",
        "cello second movement tenor clef",
        "from which bar on is the celli's music written in another clef?",
        ("cello clef", "tenor clef", "cello bar", "second movement cello"),
    ),
    Remembered(
        "Rust says that `names` does not live long enough, since the closure outlives the loop.",
        "Rust names live long enough closure",
        "what was the compiler's complaint about lifetimes that we had?",
        ("does not live long enough", "rust borrow error", "closure outlives", "lifetime error"),
    ),
    Remembered(
        "Ask the school for an exemption from gym until the ankle is well, with the doctor's note.",
        "school exemption gym ankle note",
        "what do we tell the teacher as our daughter cannot do sports?",
        ("gym exemption", "school doctor note", "ankle sports", "sports exemption"),
    ),
    Remembered(
        "Two daemons wrote to the same log file, and logrotate moved it away under one of them.",
        "daemons log file logrotate",
        "where had the missing lines of the protocol of our service gone?",
        ("logrotate", "missing log lines", "log file moved", "two daemons log"),
    ),
]

_SUBJECTS = (
    "the build server",
    "our landing page",
    "the parser of the config",
    "the train to Lyon",
    "the kitchen plan",
    "a night in the mountains",
    "the terminal program",
    "the token counter",
    "the bread oven",
    "the school choir",
    "our cluster",
    "the garden fence",
)
_VERBS = (
    "should be changed before the week is over",
    "needs another look, as the error came back",
    "costs more than we wanted to pay",
    "was written in a hurry and reads like it",
    "does what it should since the new version",
    "keeps the old one until users have moved",
    "is slow at night, and fast in the morning",
    "has a leaf, a table and a list of names",
)
_ENDS = (
    "so I would ask Mira first.",
    "which the second test shows well.",
    "and the way there is not long.",
    "if nobody is against it.",
    "though the music was good.",
)


def five_hundred():
    """The messages, those that are looked for spread among the others."""
    others = [" ".join(parts).capitalize() for parts in product(_SUBJECTS, _VERBS, _ENDS)]
    messages = []
    for number, text in enumerate(others[:480]):
        if number % 24 == 7:
            messages.append(
                answer(f"looked-for-{number // 24}", REMEMBERED[number // 24].said, number)
            )
        messages.append((user if number % 2 else answer)(f"other-{number}", text, number))
    return messages
