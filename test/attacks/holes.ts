/** Holes of the first version, each with the tests that hold it closed. */
import type { NamedHole } from './types.ts'

const HELD_OUT = 'src/evolution/held-out.test.ts'

export const HOLES: readonly NamedHole[] = [
  {
    hole: 'One report quoted the prompts of the gate, and a request was then published with no episode at all.',
    now: 'A request that no played task protects is held.',
    tests: [{ file: HELD_OUT, titles: /without any that was played it is held/ }],
  },
  {
    hole: 'A task whose prompt a proposer may have seen protected nothing any more.',
    now: 'It is not played for traffic, and still guards requests.',
    tests: [{ file: HELD_OUT, titles: /guard requests$/ }],
  },
  {
    hole: 'One client retired every held-out task by quoting or naming it.',
    now: 'Traffic retires no task; what quotes one is kept from the proposer.',
    tests: [
      { file: 'src/evolution/heldout/quoting.test.ts', titles: /^burning tasks/ },
      { file: HELD_OUT, titles: /stay in play when a batch holds their text/ },
    ],
  },
  {
    hole: '`requires[].check` was run when the person pressed Enter, and by `setup --yes`.',
    now: 'The answer no is offered; a check runs only where a person agreed to its text.',
    tests: [
      {
        file: 'agent/src/setup.test.ts',
        titles: /no check runs|offers no as the answer|only after the person agreed|none when they are others now/,
      },
    ],
  },
  {
    hole: 'A release named by `release_id`, or by a mere `x-svc-release-id` header, was served without admission.',
    now: 'It passes the admission and review of every other release.',
    tests: [
      {
        file: 'test/spec/starting-releases.test.ts',
        titles: /^(a tree that is not admitted|a tree with power|only releases of the own chain)/,
      },
    ],
  },
  {
    hole: '`svc-native serve` followed the head by default.',
    now: 'It stays at its release until a person mounts another; `--follow head` must be typed.',
    tests: [{ file: 'native/src/serve.test.ts', titles: /unless it is told to follow/ }],
  },
  {
    hole: 'opencode was installed with `permission: allow`, without its guard on `.env` and the home folder.',
    now: 'It keeps its own permissions.',
    tests: [
      { file: 'plugins/adapters/opencode/index.test.ts', titles: /keeps the permissions of opencode itself|sets permission is refused/ },
    ],
  },
  {
    hole: 'A skill named `svc` took the place of the shipped command.',
    now: 'Names that begin with `svc` are the service’s own, in any spelling.',
    tests: [{ file: 'plugins/adapters/agents.test.ts', titles: /admit no entry with the shipped name/ }],
  },
  {
    hole: 'The token lay in a file of the project without a `.gitignore`.',
    now: 'Files with a token are ignored by git, whatever the person’s own file says.',
    tests: [
      { file: 'agent/src/ignore-file.test.ts', titles: /is ignored by git|cannot be ignored|for its owner alone/ },
      { file: 'test/install/attacks.test.ts', titles: /^the token > lies in its own file/ },
    ],
  },
  {
    hole: 'An update whose files were not what the release says was applied.',
    now: 'Nothing is written before every file is compared with the signed digest.',
    tests: [{ file: 'agent/src/trust.test.ts', titles: /^update against a server that .*> (alters|adds|removes) a file/ }],
  },
  {
    hole: 'hermes came by a tag that can be moved.',
    now: 'It comes by commit.',
    tests: [
      { file: 'plugins/adapters/hermes/index.test.ts', titles: /at which commit$/ },
      { file: 'agent/src/vendor.test.ts', titles: /when another commit is pinned/ },
    ],
  },
  {
    hole: 'Packed git objects replaced by `refs/replace` were served under the old content id.',
    now: 'Objects are read without replacements, and compared with their ids out of packs too.',
    tests: [{ file: 'plugins/contents/git/hostile.test.ts', titles: /^(an object that is put in the place|altered bytes are damage)/ }],
  },
  {
    hole: 'Tasks below `/usr` could be read in an episode.',
    now: 'Folders of the deployment are hidden wherever they lie.',
    tests: [{ file: 'test/evolution/attacks-hidden.test.ts', titles: / > a folder > / }],
  },
  {
    hole: 'A neighbour that filled the disk made an innocent episode score 0.',
    now: 'It is the machine’s trouble: the episode is repeated, and scores nothing meanwhile.',
    tests: [
      { file: 'test/evolution/attacks-neighbours.test.ts', titles: /a neighbour/ },
      { file: 'src/evolution/trouble.test.ts', titles: /a neighbour that filled the disk/ },
    ],
  },
]
