/** Which tests are attacks, by class. A file that also holds ordinary tests says by title which of them count. */
import { HOLES } from './holes.ts'
import type { AttackClass } from './types.ts'

/** All classes together. */
export const ATTACKS_LEAST = 400

/** Takes too long for the short form. */
export const LONG_FORM = ['attacks', 'formats', 'loaded'].map((name) => `test/agents/${name}.test.ts`).concat('test/spec/poisoned.test.ts')

/** Settings that take an agent away from the service, or run or read what no entry holds. */
const SETTINGS_REFUSED = ['claude', 'codex', 'dsh', 'hermes', 'opencode', 'pi', 'terminus'].map((name) => ({
  file: `plugins/adapters/${name}/index.test.ts`,
  titles: /is refused by name/,
}))

export const CLASSES: readonly AttackClass[] = [
  {
    name: 'powers',
    tries:
      'a change that does more on a machine than its words say: imports, fences, settings, front matter, code, orders in prose, undoing a person’s entry',
    least: 800,
    files: [
      {
        file: 'src/harness/powers.test.ts',
        except:
          / > (nothing|a setting of words|a setting whose name is listed beside any name|a rule|a front matter field of words|an old import beside a new line)$/,
      },
      { file: 'src/harness/powers.attacks.test.ts', except: /(is|are|are plain) plain( words)?$|stays theirs$|take nothing$/ },
      {
        file: 'src/harness/prose/prose.test.ts',
        titles: /^(it is no plain prose|a huge text)/,
        except: /but what only makes an answer worse/,
      },
      {
        file: 'plugins/adapters/powers.test.ts',
        titles: /^(a text|a head|a setting|code and graphs) /,
        except: /"(Answer with a number\.|Add numbers\.|Look at \$ARGUMENTS and \$1\.)"$|argument-hint: n$|MAX_THINKING_TOKENS|compaction/,
      },
      {
        file: 'src/cli/harness/powers.test.ts',
        titles: /^what (no entry accounts for|is no tree)/,
        except: /as far as a person reads|only where it differs$/,
      },
      { file: 'src/pages/powers.test.ts', titles: /as text$|make no large page$/ },
      { file: 'test/agents/attacks.test.ts' },
      { file: 'test/spec/poisoned.test.ts', titles: / > is held when / },
      { file: 'src/evolution/powers.test.ts', titles: / > (hold|name the request|show a hidden) / },
    ],
  },
  {
    name: 'formats',
    tries:
      'texts that two parsers read differently: front matter, settings, entries of a tree; random trees are compared with what the real agents load',
    least: 900,
    files: [
      { file: 'src/harness/support/front-matter.test.ts', titles: /^front matter is refused/ },
      { file: 'src/harness/admission.test.ts', titles: /^(mutations are refused|a list of mutations is malformed)/ },
      ...SETTINGS_REFUSED,
      { file: 'plugins/adapters/formats.test.ts', except: /that every agent reads the same is given to it$/ },
      { file: 'src/harness/graph.test.ts', titles: /^a graph is refused/ },
      { file: 'test/agents/formats.test.ts' },
      { file: 'test/agents/loaded.test.ts', except: /is compared by every setting|without its wrapper/ },
    ],
  },
  {
    name: 'hidden and secret text',
    tries: 'characters that no person sees, secrets of any common shape, also disguised ones',
    least: 1200,
    files: [
      { file: 'client/src/hidden.test.ts', except: /^visible text is left/ },
      { file: 'test/text/hidden-surfaces.test.ts' },
      { file: 'src/kit/secrets.test.ts', except: /^text that is no secret passes/ },
      { file: 'src/kit/secret-shapes.test.ts', except: /^an ordinary string passes/ },
      { file: 'test/text/known-secrets.test.ts', except: /a fixture of every form is tried|is passed on$/ },
      { file: 'test/text/evaluation-token.test.ts' },
      { file: 'test/text/injected-records.test.ts' },
      { file: 'test/http/client-keys.test.ts', except: /goes to its provider as it came/ },
      { file: 'test/http/inference-echo.test.ts', except: /passes byte for byte$/ },
      {
        file: 'src/evolution/archive/archive.test.ts',
        titles: /holds no credential|half of a key at the cut/,
        except: /nothing but words$/,
      },
      { file: 'test/ops/log.test.ts', titles: /^a secret appears in no log line/ },
      { file: 'test/spec/errors.test.ts', titles: /refuses the deployment's key|without what may be secret/ },
    ],
  },
  {
    name: 'starting releases, imports and remotes',
    tries:
      'releases and repositories from elsewhere: trees that are not admitted, trees with power, replaced and altered git objects, settings that start programs',
    least: 110,
    files: [
      { file: 'test/spec/starting-releases.test.ts', except: /^the own chain/ },
      { file: 'test/spec/remote-releases.test.ts', except: /is served and signed once/ },
      { file: 'src/harness/start.test.ts', titles: / is (held|refused) / },
      { file: 'test/reef/import.test.ts', titles: /^a source that means harm|is not served before a person|is judged when it is loaded/ },
      { file: 'plugins/contents/git/hostile.test.ts', except: /a clone made by git opens$/ },
      { file: 'plugins/miners/git/hostile.test.ts' },
    ],
  },
  {
    name: 'signatures',
    tries: 'a mirror, a man in the middle, an older or another service, a lost or rotated key, a wrong clock, against the real wrapper',
    least: 150,
    files: [
      { file: 'client/src/signing/signing.test.ts', except: /^a manifest is taken|is fine at|as it was signed is run/ },
      { file: 'agent/src/trust.test.ts', except: /pins the key and says so$/ },
      { file: 'agent/src/trust-command.test.ts', except: /follows one rotation/ },
      { file: 'test/install/tls.test.ts', except: /who lets everything pass/ },
      {
        file: 'src/keys/key-file.test.ts',
        titles: /one clear error|refused with the fix|not made by a command|at the same time as others|was killed/,
      },
      { file: 'src/cli/key.test.ts', titles: /runs nothing of/ },
    ],
  },
  {
    name: 'install line and vendors’ programs',
    tries: 'names, pages and environments that run something, links in the way, scripts cut short, tokens where git or others see them',
    least: 180,
    files: [
      { file: 'test/install/attacks.test.ts', except: / > the script installs, and runs nothing else$/ },
      { file: 'test/install/hostile.test.ts' },
      { file: 'test/install/gate.test.ts', titles: /that a repository brings/ },
      { file: 'agent/src/install.test.ts', titles: /a release file that / },
      { file: 'agent/src/release-file.test.ts', titles: /that came with a folder/ },
      { file: 'client/src/tree-files.test.ts', titles: /that this machine did not write/ },
      { file: 'test/install/homes.test.ts', titles: / > a home called / },
      {
        file: 'test/install/line.test.ts',
        titles: /^(a scenario’s name in the line|with the fingerprint of another key|beyond this machine)/,
      },
      { file: 'test/install/cut.test.ts', except: /the whole of it does run$/ },
      { file: 'test/install/refused.test.ts', titles: /runs nothing/ },
      {
        file: 'agent/src/ignore-file.test.ts',
        titles: /is ignored|cannot be ignored|would show again|a project tracks|for its owner alone/,
      },
      {
        file: 'agent/src/vendor.test.ts',
        titles:
          /is refused (in one line )?before|gets nothing of a person|another commit is not installed|over packages that somebody else/,
      },
      { file: 'agent/src/proxy.test.ts', titles: /^what is refused > .* is (401|403|404)$/ },
    ],
  },
  {
    name: 'sandbox',
    tries: 'an episode against the kernel, the machine, the network, the model’s relay, its limits and its neighbours',
    least: 550,
    files: [
      { file: 'test/evolution/attacks-calls.test.ts' },
      { file: 'test/evolution/attacks-hidden.test.ts', except: /leaves the rest/ },
      { file: 'src/config/own-paths.test.ts', except: /is for the agent$/ },
      { file: 'test/evolution/attacks-limits.test.ts', except: /ordinary programs run/ },
      { file: 'test/evolution/attacks-neighbours.test.ts', except: /with room again is played on$/ },
      { file: 'test/evolution/attacks-relay.test.ts' },
      { file: 'test/evolution/attacks-left.test.ts' },
      { file: 'test/evolution/attacks-reach.test.ts' },
      { file: 'test/evolution/escape.test.ts' },
      { file: 'test/evolution/escape-kernel.test.ts' },
      { file: 'test/evolution/escape-limits.test.ts' },
      { file: 'test/evolution/escape-model.test.ts' },
      { file: 'plugins/executors/sandbox/bodies/bodies.test.ts', titles: /^(is left out|a body that is no object)/ },
      { file: 'plugins/executors/sandbox/budget.test.ts', titles: /at once|takes no count|without a limit|bounds money|as many calls/ },
      { file: 'src/evolution/guards.test.ts', titles: /^(without a sandbox|no episode sees)/ },
    ],
  },
  {
    name: 'workers',
    tries:
      'a worker that answers for others, replays, floods, lies under many names, answers late, twice, or what is no result, and keys of episodes beyond their model',
    least: 40,
    files: [
      { file: 'src/fleet/hostile.test.ts' },
      { file: 'test/spec/hostile-worker.test.ts' },
      { file: 'src/evolution/hosts/workers.test.ts', titles: /is trouble of the machine/ },
    ],
  },
  {
    name: 'held-out tasks',
    tries: 'candidates that hold the tasks’ texts or answers, traffic that retires tasks, agents that read them',
    least: 120,
    files: [
      { file: 'src/evolution/heldout/by-heart.test.ts', except: /^ordinary changes/ },
      { file: 'src/evolution/heldout/quoting.test.ts' },
      { file: 'test/http/held-out.test.ts', except: /the holder of a service token$|anyone where the service is open$/ },
    ],
  },
  {
    name: 'injections',
    tries: 'reports, tool outputs and records that give orders to a proposer or a judge',
    least: 320,
    files: [
      { file: 'plugins/proposers/injections.test.ts', titles: /is not steered by/ },
      { file: 'src/evolution/proposing/prompts.test.ts', titles: /^a fence > (cannot be closed|takes its power|shows hidden)/ },
    ],
  },
  {
    name: 'pages and console',
    tries:
      'texts of traffic that run, load or break something in the browser of a person who reviews; pages of other sites that act on the service; sign-ins of others, and providers that lie',
    least: 70,
    files: [
      { file: 'console/src/views/record/exchange-hostile.test.ts' },
      { file: 'test/spec/cors.test.ts', titles: /may not act|answers no request under|lets no page of another site|is refused/ },
      { file: 'test/browser/hostile.test.ts' },
      { file: 'src/http/handlers/sign-in.test.ts', titles: /leads? to the console/ },
      { file: 'test/sign-in/flow.test.ts', titles: /^attacks|^a person of no group/, except: /one name is a group/ },
      { file: 'test/sign-in/hostile.test.ts', except: /what tells the truth|off by less than a minute/ },
    ],
  },
  {
    name: 'named holes',
    tries: 'what worked against the first version',
    least: 100,
    files: HOLES.flatMap(({ tests }) => tests),
  },
]
