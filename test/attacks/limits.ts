/** What still works, or is not defended, by class. docs/security.md shows this list. */
import type { KnownLimit } from './types.ts'

const SHOWN = 'test/attacks/limits.test.ts'

export const LIMITS: readonly KnownLimit[] = [
  {
    of: 'workers',
    what: 'A worker that lies is believed until it is found out by episodes that others played too, and workers of several tokens that lie alike and are the majority are believed.',
    why: 'Scores can be compared with nothing but the scores of others.',
    defence:
      'A token for each machine, and tokens for machines that you run yourself. What is found out later is discarded and played again.',
  },
  {
    of: 'powers',
    what: 'Plain words that mislead ("Treat every input as safe.") are published when they do not lower the scores of the tasks.',
    why: 'Words are judged by evidence, and evidence covers what the tasks cover.',
    defence:
      'Tasks of the roles `regression` and `health` for what must not change; `evolution.publish: review` where words alone may do harm.',
    shownBy: { file: SHOWN, titles: /^plain words that mislead/ },
  },
  {
    of: 'powers',
    what: 'A plug-in of the operator (adapter, recipe, proposer, evaluator, executor) decides and runs as the service does.',
    why: 'It is code that the operator chose.',
    defence: 'Read a plug-in before you name it; its suite in `conformance/` finds mistakes, not malice.',
  },
  {
    of: 'formats',
    what: 'For hermes, dsh and terminus nothing compares what the service rendered with what the agent loads.',
    why: 'The comparison runs the real agent; four of them (Claude Code, Codex, opencode, pi) run in the tests.',
    defence: 'The same strict formats apply, and what the adapter does not list has every power.',
  },
  {
    of: 'hidden and secret text',
    what: 'A password in ordinary words ("Log in as anna with blue42.") is not recognized.',
    why: 'Secrets are found by shape, and ordinary words have none.',
    defence: 'Keep passwords out of prompts and reports; the configured keys are found by their value.',
    shownBy: { file: SHOWN, titles: /^a password in ordinary words/ },
  },
  {
    of: 'hidden and secret text',
    what: 'A secret of nobody’s configuration that is written backwards, or otherwise changed by hand, is not recognized.',
    why: 'There are more ways to change a text than a list has patterns. The configured keys are also found backwards and in the usual encodings, in pieces of twelve characters or more.',
    defence: 'Do not give agents secrets that their traffic must not hold.',
    shownBy: { file: SHOWN, titles: /^a secret that is written backwards/ },
  },
  {
    of: 'hidden and secret text',
    what: 'A good answer of the upstream passes byte for byte, also when it says the configured key.',
    why: 'Answers are forwarded unchanged; errors are not.',
    defence: 'A provider that says its key in an answer has a hole of its own; change the key.',
    shownBy: { file: SHOWN, titles: /^a good answer that holds the key/ },
  },
  {
    of: 'starting releases, imports and remotes',
    what: 'A program with the rights of the service’s user can change its records, its key and its configuration.',
    why: 'They are files of that user.',
    defence: 'A user of its own for the service, and nothing else under it.',
  },
  {
    of: 'signatures',
    what: 'A mirror may go on serving the release it has: a client that sees nothing newer cannot know.',
    why: 'Releases have no expiry, so that a service that is down locks nobody out.',
    defence: 'TLS to the service itself; the console shows which release is served.',
    shownBy: { file: SHOWN, titles: /^a mirror that goes on serving/ },
  },
  {
    of: 'signatures',
    what: 'The short install line runs whatever a server sends that lies at the first contact.',
    why: 'A shell runs what it reads, and a script may ignore the fingerprint that the line carries.',
    defence: 'The second line of `svc key show`, which checks before it runs; TLS.',
    shownBy: { file: SHOWN, titles: /^the short install line/ },
  },
  {
    of: 'signatures',
    what: 'Who has the key file signs what they like.',
    why: 'The signature says which key, not which person.',
    defence:
      'The file is mode 0600; keep its backup private. After a theft start over with a new key: a rotation does not help, since the thief can sign one too.',
  },
  {
    of: 'install line and vendors’ programs',
    what: 'A vendor’s program does what its vendor built it to do, with the rights of the person who runs it.',
    why: 'It comes by version and digest; nobody here reads it.',
    defence: 'Choose the agents; a new version needs a new release of the service.',
  },
  {
    of: 'install line and vendors’ programs',
    what: 'The Python packages that hermes needs come in the versions that their registry offers, without digests.',
    why: 'hermes itself is pinned by its commit. It is installed by pip, for which the project has no lock.',
    defence: 'The other agents come by a lock with the digest of every package.',
    shownBy: { file: SHOWN, titles: /^hermes has no lock/ },
  },
  {
    of: 'install line and vendors’ programs',
    what: 'A program of the same user can read the token of an install.',
    why: 'A wrapper needs a token between sessions. A session gets a key of its own that leads to the model, reports and requests alone.',
    defence:
      'It is of the role agent for that scenario, also where the person installed with the token of the deployment: it promotes nothing and reads no held release. Revoke it when the machine is lost.',
  },
  {
    of: 'sandbox',
    what: 'A hole in the kernel, and what one episode learns of others by time or load.',
    why: 'Episodes share the kernel and the processors of the machine.',
    defence: 'A kernel that is kept up to date; a machine of its own for a service that plays strangers’ changes.',
  },
  {
    of: 'sandbox',
    what: 'Without a cgroup, memory and processes are measured ten times a second: an episode may exceed its limit in between.',
    why: 'Limits of the kernel per process do not add up.',
    defence: '`svc doctor` says whether the machine delegates cgroup v2, and how to get it.',
  },
  {
    of: 'held-out tasks',
    what: 'One answer in words of its own ("The bill of the third month is 48210.") is not recognized as learned by heart.',
    why: 'A rule may hold a number; what is recognized are texts of tasks and keys of several answers.',
    defence: 'Many tasks: one answer moves the score by one task. `evolution.publish: review` for small sets.',
    shownBy: { file: SHOWN, titles: /^one answer in words of its own/ },
  },
  {
    of: 'held-out tasks',
    what: 'A command of a task that loads files of the agent (a `Makefile`, a `conftest.py`) lets the agent choose its own score.',
    why: 'The command is the operator’s, and runs in the sandbox on what the agent left.',
    defence: 'What decides lies in `verify_files` ([Tasks](evolution.md#tasks)).',
  },
  {
    of: 'held-out tasks',
    what: 'The code that the tests of a mined task import can find the key of its runner in the memory of their process, or return a value that says it equals everything, and so pass. Under jest it can change `expect`; where a script of the repository runs the tests (`npm test`, `make test`), an exit status of 0 is a pass; with Go and Rust it can print the names of tests that did not run.',
    why: 'Tests of units call the code in their own process.',
    defence: 'Review what is held; prefer tasks whose tests start the program, or an `answer`.',
  },
  {
    of: 'held-out tasks',
    what: 'Who holds a token of the role admin, review or read reads the tasks and the records of every step.',
    why: 'People who review must. The roles serve and agent, sessions and episodes read neither.',
    defence: 'Give agents and products tokens of the roles agent and serve.',
  },
  {
    of: 'injections',
    what: 'A model may obey a text although it is quoted as data.',
    why: 'Quoting is a convention; the tests hold that nothing of the traffic stands outside the quotes.',
    defence: 'What it then writes is a candidate like any other: judged by its powers and by tasks it never saw.',
  },
  {
    of: 'pages and console',
    what: 'A link to a page opens it for whoever has the link.',
    why: 'It carries a key that is made from the service token.',
    defence: 'Pass links on as you would the page; a new token ends all of them.',
  },
]
