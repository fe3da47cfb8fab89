"""What each of the demo's agents does: a list of steps, each of which writes a file and says so in a line."""

import json
import os
import re


class Job:
    """What an agent was told."""

    def __init__(self, inputs, comment, stage):
        self.inputs = inputs
        self.comment = comment
        self.stage = stage
        self.epic = slug(inputs.get("epic"), "user-auth")
        self.feature = slug(inputs.get("feature_slug"), "reset-password")
        self.title = self.feature.replace("-", " ")
        self.problem = inputs.get("problem_statement") or "Somebody cannot do what they came for."
        self.issue = slug(inputs.get("issue_number"), "1")
        self.method = (inputs.get("http_method") or inputs.get("method") or "POST").upper()


def slug(text, otherwise):
    """A name that can stand in a path, whatever was given."""
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", text or "").strip("-")
    return kept or otherwise


def steps(actor, job):
    """The steps of an agent or skill; an unknown one says so, and is no fault."""
    made = AGENTS[actor](job) if actor in AGENTS else unknown(actor)
    if job.comment:
        first = job.comment.splitlines()[0]
        made = [say(f"You asked: {first}\n\nI took that up in what follows.\n")] + made
    return made


def unknown(actor):
    return [say(f"I have no part in this demo as `{actor}`, so I only read what there is.")]


def say(line):
    return lambda: line


def put(path, text, what, job=None):
    """A step that writes a file whole. A comment of a human's leaves its trace in it."""

    def step():
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        note = ""
        if job and job.comment and path.endswith(".md"):
            quoted = "\n".join("> " + line for line in job.comment.splitlines())
            note = f"\n## Changed on request\n\n{quoted}\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.lstrip("\n") + note)
        return f"- `{path}`: {what}"

    return step


def patch(path, marker, added, what):
    """A step that adds lines before a marker, once."""

    def step():
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return f"- `{path}` is not there; left out"
        if added not in text and marker in text:
            at = text.rindex(marker)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text[:at] + added + text[at:])
        return f"- `{path}`: {what}"

    return step


def spec_kit(job):
    at = f"docs/specs/{job.feature}"
    story = f"docs/stories/{job.epic}/{job.feature}-1/Story.md"
    ui = "false" if job.inputs.get("http_method") else "true"
    return [
        say(f"## Tasks for {job.title}\n"),
        put(f"{at}/PROBLEM.md", f"# Problem\n\n{job.problem}\n", "the problem, in the words it came in", job),
        put(
            f"{at}/SPEC.md",
            f"""
# {job.title}

1. Whoever has an account can get back into it without writing to anybody.
2. A link works once, for an hour.
3. The answer is the same for an address that the shop knows and for one it does not.
4. An expired link says so and offers a new one.
""",
            "what is true when it is solved",
            job,
        ),
        put(f"{at}/PLAN.md", "# Plan\n\nTokens first, then mail, then the two pages.\n", "the order of the work", job),
        put(
            f"{at}/TASKS.md",
            """
# Tasks

1. [ ] One-time tokens that end after an hour (`src/accounts.js`)
2. [ ] The mail with the link (`src/mail.js`)
3. [ ] Ask for a link (`src/routes.js`, a page)
4. [ ] Set a new password (`src/routes.js`, a page)
5. [ ] The expired link
""",
            "five tasks",
            job,
        ),
        put(
            story,
            f"""
---
epic: {job.epic}
story_slug: {job.feature}
ui: {ui}
---
# {job.feature}-1: back into the account

As a customer who forgot the password, I want to set a new one, so that I can order again.

## Accepted when

- Given a known address, when a link is asked for, then a mail arrives.
- Given an unknown address, when a link is asked for, then the page says the same.
- Given a link older than an hour, when it is opened, then the page offers a new one.
""",
            f"one story, `ui: {ui}`",
        ),
        say("\nAssumed: the shop's own mail is enough, and nobody needs to reset by telephone."),
    ]


def ux_researcher(job):
    at = f"docs/design/research/{job.feature}"
    return [
        say("## Who this is for\n"),
        put(
            f"{at}/personas.md",
            """
# Personas

**Noor**, 34, orders tea twice a year. Never remembers the password, and fears that the order is lost.

**Emil**, 71, reads mail on a tablet. Fears every link in a mail, for good reasons.
""",
            "Noor and Emil",
            job,
        ),
        put(
            f"{at}/journey.md",
            """
# Journey

1. The sign-in fails, with a full cart.
2. *Forgot it?* is looked for, below the button.
3. Mail is waited for. **This is the step that hurts: nothing says how long.**
4. The link opens, and asks for one new password, once.
5. The cart is still there.
""",
            "five steps, one of which hurts",
            job,
        ),
        say("\nThe wireframes must say how long the mail takes, and keep the cart in sight."),
    ]


def wireframe_architect(job):
    return [
        say(f"## Wireframes for {job.feature}\n"),
        put(
            f"docs/design/wireframes/{job.feature}.md",
            """
# Wireframes

## Ask for a link

```
+--------------------------------------+
|  Forgot your password?               |
|  Address  [______________________]   |   1
|           ( Send me a link )         |   2
|  Back to sign in                     |   3
+--------------------------------------+
```

Busy: the button says *Sending*. Done: *If we know this address, a mail is on its way. It takes a minute.*

## Set a new password

```
+--------------------------------------+
|  A new password                      |
|  At least 10 characters              |
|           [______________________]   |   1
|           [ ] show it                |   2
|           ( Save and sign in )       |   3
+--------------------------------------+
```

## The link is too old

```
+--------------------------------------+
|  ! This link was good for an hour.   |
|           ( Send a new one )         |   1
+--------------------------------------+
```

The banner is the one of a failed sign-in. Numbers are the order of focus.
""",
            "three screens, order of focus noted",
            job,
        ),
        say("\nThe expired link reuses the banner of a failed sign-in. There is one password field, not two."),
    ]


TOKENS = {
    "color": {
        "ground": "#fbfaf6",
        "text": "#23291f",
        "action": "#2f5d50",
        "on-action": "#ffffff",
        "danger": "#9b2c1f",
    },
    "font": {"body": "system-ui, sans-serif", "size": "1rem", "size-title": "1.75rem"},
    "space": {"s": "0.5rem", "m": "1rem", "l": "2rem"},
    "radius": {"field": "6px"},
}


def tokens():
    """The tokens as they are in the project now."""
    try:
        with open("docs/design/identity/tokens.json", encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return TOKENS


def contrast(one, other):
    """The contrast of two colours, as WCAG counts it."""

    def light(color):
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted([light(one), light(other)])
    return (bright + 0.05) / (dark + 0.05)


def flat(values):
    return [(f"{group}-{name}", value) for group, names in values.items() for name, value in names.items()]


def visual_identity_designer(job):
    values = json.loads(json.dumps(TOKENS))
    if job.comment or job.inputs.get("brief"):
        values["color"].update({"action": "#7a3e65", "ground": "#fcf9fb"})
    color = values["color"]
    pairs = [("text", "ground"), ("on-action", "action"), ("danger", "ground")]
    rows = "".join(f"| `{a}` {color[a]} | `{b}` {color[b]} | {contrast(color[a], color[b]):.1f} |\n" for a, b in pairs)
    lowest = min(contrast(color[a], color[b]) for a, b in pairs)
    return [
        say("## How the shop looks\n"),
        put("docs/design/identity/tokens.json", json.dumps(values, indent=2) + "\n", "5 colours, a scale, 3 spaces"),
        put(
            "docs/design/identity/palette.md",
            f"# Palette\n\nDried leaves on unbleached paper.\n\n| text | ground | contrast |\n|---|---|---|\n{rows}",
            "why, and the contrast of each pair",
            job,
        ),
        say(f"\nThe lowest contrast is {lowest:.1f}. Actions are {color['action']}."),
    ]


def design_system_author(_job):
    pairs = flat(tokens())
    css = "".join(f"  --{name}: {value};\n" for name, value in pairs)
    js = "".join(f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in pairs)
    head = "Made from docs/design/identity/tokens.json."
    return [
        say("## Design system\n"),
        put("public/tokens.css", f"/* {head} */\n:root {{\n{css}}}\n", f"{len(pairs)} custom properties"),
        put("public/theme.js", f"// {head}\nexport const theme = {{\n{js}}};\n", "the same, for scripts"),
        say("\nEvery token is used or will be by the mockups."),
    ]


def form(job, class_name):
    return f"""<form class="{class_name}" method="post" action="/api/{job.feature}">
  <h1>Forgot your password?</h1>
  <label for="address">Address</label>
  <input id="address" name="address" type="email" autocomplete="email" required />
  <button>Send me a link</button>
  <p role="status">If we know this address, a mail is on its way. It takes a minute.</p>
</form>
"""


def ui_mockup_builder(job):
    changed = f"<!-- changed on request: {job.comment.splitlines()[0].replace('--', '')} -->\n" if job.comment else ""
    return [
        say("## Mockups\n"),
        put(
            f"docs/design/mockups/{job.feature}.html",
            f"""<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<title>{job.title}</title>
<link rel="stylesheet" href="/tokens.css" />
{changed}<main>
{form(job, "ask")}
<section class="too-old" role="alert">
  <p>This link was good for an hour.</p>
  <button>Send a new one</button>
</section>
</main>
</html>
""",
            "two screens, tokens only",
        ),
        say("\nThe wireframes left the width open: fields are as wide as the text above them."),
    ]


def component_scaffold(job):
    at = f"public/components/{job.feature}"
    css = f".{job.feature} {{\n  background: var(--color-ground);\n  color: var(--color-text);\n  padding: var(--space-l);\n}}\n"
    js = f"""
class Feature extends HTMLElement {{
  async connectedCallback() {{
    this.innerHTML = await (await fetch("/components/{job.feature}/{job.feature}.html")).text();
  }}
}}

customElements.define("shop-{job.feature}", Feature);
"""
    return [
        say("## Scaffold\n"),
        put(f"{at}/{job.feature}.html", form(job, job.feature), "the markup of the mockup"),
        put(f"{at}/{job.feature}.css", css, "three tokens"),
        put(f"{at}/{job.feature}.js", js, f"`<shop-{job.feature}>`"),
    ]


def orchestrator(job):
    if job.inputs.get("issue_number"):
        return fix(job)
    name = re.sub(r"^(?=[0-9])", "_", job.feature.replace("-", "_"))
    module = f"""
// One-time tokens for {job.title}. Each works once, for an hour.

import {{ randomBytes }} from "node:crypto";

const hour = 60 * 60 * 1000;
const open = new Map();

export function issue(address, now = Date.now()) {{
  const token = randomBytes(16).toString("hex");
  open.set(token, {{ address, until: now + hour }});
  return token;
}}

export function redeem(token, now = Date.now()) {{
  const found = open.get(token);
  open.delete(token);
  return found && now < found.until ? found.address : null;
}}
"""
    test = f"""
import assert from "node:assert/strict";
import {{ test }} from "node:test";
import {{ issue, redeem }} from "../src/{job.feature}.js";

test("a token works once", () => {{
  const token = issue("ada@example.org");
  assert.equal(redeem(token), "ada@example.org");
  assert.equal(redeem(token), null);
}});

test("a token is too old after an hour", () => {{
  assert.equal(redeem(issue("ada@example.org", 0), 60 * 60 * 1000), null);
}});
"""
    route = f"""  "{job.method} /api/{job.feature}": ({{ body }}) => {{
    mail.send(body.address, "{job.title}", `http://localhost:8080/{job.feature}?token=${{{name}.issue(body.address)}}`);
    return {{ status: 202, body: {{}} }};
  }},
"""
    return [
        say("1. DISCOVER: the tasks, the mockups, and `src/accounts.js`"),
        say("2. DEFINE: a link works once, for an hour, and says nothing about who has an account"),
        say("3. DESIGN: tokens in a module of their own, one route\n4. PLAN: tokens, test, route\n5. BUILD\n"),
        put(f"src/{job.feature}.js", module, "tokens"),
        put(f"test/{job.feature}.test.js", test, "two tests"),
        patch(
            "src/routes.js",
            "\nexport const routes",
            f'import * as mail from "./mail.js";\nimport * as {name} from "./{job.feature}.js";\n',
            "two imports",
        ),
        patch("src/routes.js", "};\n", route, "one route"),
        say("\n6. REVIEW: the token is random enough, and is gone once it was used"),
        say("7. TEST: the new tests are in `test/`\n8. FINAL CHECK: tasks 1 to 3 are done; 4 and 5 need the pages"),
    ]


def a11y_auditor(job):
    return [
        say("## Audit, WCAG 2.2 AA\n"),
        put(
            f"docs/design/a11y/{job.feature}.md",
            """
# Findings

| severity | where | criterion | mend |
|---|---|---|---|
| minor | the address field | 1.3.5 | `autocomplete` is there; name the purpose in the label too |
| minor | *Send a new one* | 2.5.8 | 24 by 24 pixels is met, 44 would be kinder |

Nothing critical, nothing serious.
""",
            "two minor findings",
            job,
        ),
        say('\nNothing critical or serious is open.\n\n{"verdict": "PASS"}'),
    ]


def architect(job):
    contract = f"""
openapi: 3.1.0
info: {{ title: shop, version: 0.3.0 }}
paths:
  /api/{job.feature}:
    {job.method.lower()}:
      summary: {job.title}
      responses:
        "202": {{ description: accepted; says nothing about who has an account }}
        "400": {{ description: the body is not what it should be }}
"""
    record = "# 1. Tokens in memory\n\nThe shop has no database. A token that is lost at a restart is asked for again.\n"
    return [
        say("## Contract\n"),
        put("docs/api/openapi.yaml", contract, "one path, two answers"),
        put(f"docs/adr/0001-{job.feature}.md", record, "why tokens live in memory", job),
        say("\nThe path and the answers are fixed; the wording of errors may still change."),
    ]


def qa(job):
    if job.stage > 1:
        return [
            say("## Verified\n"),
            say(f"- the test of issue {job.issue} passes\n- the rest of the suite passes, as before"),
            say('\nA cart that was stored before the fix still has its total.\n\n{"verdict": "PASS"}'),
        ]
    test = f"""
import assert from "node:assert/strict";
import {{ test }} from "node:test";
import {{ total }} from "../src/cart.js";

// Issue {job.issue}: a cart that was stored before an item was taken out of the catalogue.
test("an item that is no longer sold does not break the total", () => {{
  assert.equal(total({{ tea: 1, coffee: 2 }}), 690);
}});
"""
    return [
        say("## A failing test\n"),
        put(f"test/issue-{job.issue}.test.js", test, "fails: `find(id)` is null"),
        say("\nIt fails because `total` takes for granted that every item is still sold. Nothing else is touched."),
    ]


def fix(job):
    def step():
        with open("src/cart.js", encoding="utf-8") as file:
            text = file.read()
        with open("src/cart.js", "w", encoding="utf-8") as file:
            file.write(text.replace("find(id).price * count", "(find(id)?.price ?? 0) * count"))
        return "- `src/cart.js`: an item that is no longer sold counts nothing"

    return [say(f"## The fix for issue {job.issue}\n"), step, say("\nThe test passes; no other line changed.")]


def gherkin_authoring(job):
    return [
        say("## Scenarios\n"),
        put(
            f"docs/stories/{job.epic}/{job.feature}-1/scenarios.feature",
            f"""
@{job.feature}-1-1
Scenario: a link is asked for
  Given an account
  When a link is asked for
  Then a mail arrives
""",
            f"`@{job.feature}-1-1`",
        ),
    ]


def cucumber_automation(job):
    feature = f"""
Feature: {job.title}

  @{job.feature}-1-1
  Scenario: a link is asked for
    Given an account
    When a link is asked for
    Then a mail arrives
"""
    stubs = "".join(
        f'export function step_{at}() {{\n  throw new Error("to be written: {line}");\n}}\n'
        for at, line in enumerate(["an account", "a link is asked for", "a mail arrives"], 1)
    )
    return [
        say("## Feature files\n"),
        put(f"features/{job.feature}.feature", feature, "one scenario"),
        put(f"features/steps/{job.feature}.js", stubs, "three stubs, each failing until it is written"),
    ]


def story_issue_sync(job):
    what = f"issue {job.issue}: fixed, with a test that stays" if job.inputs.get("issue_number") else f"{job.feature}-1: built"
    return [
        say("## Stories and issues\n"),
        put("docs/stories/ISSUES.md", f"# What the tracker should say\n\n- {what}\n", "no tracker in reach, so written down"),
    ]


AGENTS = {
    "a11y-auditor": a11y_auditor,
    "architect": architect,
    "component-scaffold": component_scaffold,
    "cucumber-automation": cucumber_automation,
    "design-system-author": design_system_author,
    "gherkin-authoring": gherkin_authoring,
    "orchestrator": orchestrator,
    "qa": qa,
    "spec-kit": spec_kit,
    "story-issue-sync": story_issue_sync,
    "ui-mockup-builder": ui_mockup_builder,
    "ux-researcher": ux_researcher,
    "visual-identity-designer": visual_identity_designer,
    "wireframe-architect": wireframe_architect,
}
