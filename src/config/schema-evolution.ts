/** The keys of `evolution`: how a harness is improved. */
import * as z from 'zod'
import { POWERS, STATE_DIRECTORY } from '../contract/index.ts'
import { count, flag, from0, none, oneOf, seconds, section, text, whole } from './types.ts'

const json = (rule: string) => z.record(z.string(), z.json(rule), rule)
const share = (most: number) => {
  const rule = `must be a number above 0, and ${most} at most`
  return z.number(rule).gt(0, rule).max(most, rule)
}
const price = () => z.number('must be a number').min(0, 'must be at least 0').default(0)
const money = () => z.number('must be a number').min(0, 'must be at least 0')
const worth = () => z.number('must be a number above 0').gt(0, 'must be a number above 0').nullable().default(null)
const POWERS_RULE = `must be a list of powers: ${POWERS.join(', ')}`
const entry = () => z.record(z.string(), z.json('must be JSON'), 'must be an entry {id, name, config}')

export const evolution = section({
  adapter: text
    .default('native')
    .describe(
      'The agent that the harness is for: `pi`, `opencode`, `claude`, `codex`, `hermes`, `dsh`, `native`, `terminus`, or an adapter plug-in.',
    ),
  seed: z
    .array(entry(), 'must be a list of entries {id, name, config}')
    .default([])
    .describe(
      'The tree that a new scenario starts with: a list of `{id, name, config, disabled?, protected?}`, where `name` is the kind. Changes of an entry that is `protected` are held for review. Taken as it is: nothing in it is filled from the environment.',
    ),
  version_check: flag
    .nullable()
    .default(null)
    .describe("Whether a person's session says that a newer release is served. Unset: where the adapter ships the entry."),
  requests: flag
    .nullable()
    .default(null)
    .describe('Whether a person can ask for a change from inside a session. Unset: where the adapter ships the entry.'),
  binary: text
    .nullable()
    .default(null)
    .describe("The agent's program in episodes. Unset: the adapter's pinned one, which is installed when the first episode needs it."),
  tasks: z
    .array(
      z.union([text, json('must be a task {name, prompt, …}')], 'must be text, or a task {name, prompt, …}'),
      'must be a list of tasks',
    )
    .nullable()
    .default(null)
    .describe(
      'What candidates are measured by: a list of prompts, or of `{name, prompt, role?, family?, answer?, files?, verify?, rubric?, data?}`. Unset, and no `tasks_dir`: a set of small general tasks. See docs/evolution.md.',
    ),
  tasks_dir: text.nullable().default(null).describe('A folder with one folder per task; relative to the configuration file.'),
  proposer: text.default('text').describe('Who writes changes: `text`, `reflect`, `agent`, or a proposer plug-in.'),
  evaluator: text.default('answer').describe('Who scores episodes: `answer`, `verify`, `judge`, `module`, or an evaluator plug-in.'),
  evaluator_module: text
    .nullable()
    .default(null)
    .describe('With the evaluator `module`: the module whose default export scores an episode; relative to the configuration file.'),
  selection: text.default('evidence').describe('Who decides: `evidence`, `score_comparison`, `floor`, `always`, or a selection plug-in.'),
  executor: text
    .nullable()
    .default(null)
    .describe(
      'Where episodes run: `sandbox`, `local` (without isolation, with all rights of the service), `none` (no program is started: the agent `native` with rules alone is played in the service), or an executor plug-in. Unset: `sandbox`, and where that does not work no episode runs.',
    ),
  alpha: share(0.5)
    .default(0.05)
    .describe('With `evidence`: the share of published changes that may turn out not to help, in any fifty decisions.'),
  margin: share(1)
    .default(0.1)
    .describe('With `evidence`: by how much of a point protected tasks may seem worse before a change counts as harmful.'),
  tasks_alike: whole('must be a whole number from 1 to 100', 1, 100)
    .default(1)
    .describe(
      'With `evidence`: how many tasks of the gate without a `family` may be alike though nobody says so. Each counts as that part of a family, so that more of them are needed. 1: they are alike only where their texts are nearly the same, or where they moved together under earlier changes.',
    ),
  min_win_margin: none.describe('With `score_comparison`: by how many a candidate must win more tasks than it loses.'),
  floor_score: z.number('must be a number').default(1).describe('With `floor`: the least score of every task.'),
  publish: oneOf(['auto', 'review'])
    .default('auto')
    .describe('`auto` serves what proved better at once; `review` holds every release until a person promotes it.'),
  provisional: oneOf(['off', 'shadow', 'canary'])
    .default('off')
    .describe(
      'What becomes of a change that looks better after one round and is not proved yet. `off`: nothing. `shadow`: it is recorded and shown as the provisional release, and served to nobody. `canary`: it is also served, unproven, to `canary_share` of the sessions and to those who ask for it. See docs/evolution.md.',
    ),
  canary_share: z
    .number('must be a number from 0 to 1')
    .min(0, 'must be a number from 0 to 1')
    .max(1, 'must be a number from 0 to 1')
    .default(0.1)
    .describe('With `provisional: canary`: the share of sessions that are served the provisional release. 0: only those who ask for it.'),
  review_kinds: z
    .array(text, 'must be a list of kinds')
    .default(['code_extension'])
    .describe(
      'Kinds of entries whose change is always held for review. `code_extension` stands for everything that an agent would run: extensions, the tools, hooks and loops of native, and commands and skills whose text runs programs. `native_loop` always is.',
    ),
  publish_powers: z
    .array(z.enum(POWERS, POWERS_RULE), POWERS_RULE)
    .default(['words'])
    .describe(
      `The powers that evidence alone may publish: a list of ${POWERS.map((power) => `\`${power}\``).join(', ')}. A change with any other power is held for review, also one that a person asked for. See docs/evolution.md.`,
    ),
  objective: section({
    cost_per_point: worth().describe(
      'How much money of one episode one point of score is worth, by `evolution.prices`: a change whose episodes cost this much more must score a whole point more. Unset: money does not count.',
    ),
    seconds_per_point: worth().describe(
      'How many seconds of one episode one point of score is worth, until the agent ends. Unset: time does not count.',
    ),
  })
    .prefault({})
    .describe('With `evidence`: what counts besides the score where a change from traffic must be better. See docs/evolution.md.'),
  sampling_seeds: oneOf(['auto', 'off'])
    .default('auto')
    .describe(
      'Whether both sides of a pair ask the model with the same sampling seeds, so that fewer pairs show what a change does. `auto`: where the format of the agent has a seed (chat completions, Gemini) and the model does not refuse it; a seed of the agent itself stays. `off`: calls go on as the agent makes them.',
    ),
  episode_timeout_s: seconds('above zero').default(600).describe('How long one episode may take, in seconds.'),
  score_age_max_s: seconds('zero')
    .default(1800)
    .describe(
      'How long the score of an episode may be used again by later steps, in seconds. A sample of such scores is played again in every step, and all of them before a change is published. 0: every step plays both sides anew.',
    ),
  episode_repeats: count.default(1).describe('How often a task is played per side, where the selection does not choose itself.'),
  episode_workers: whole('must be a whole number from 1 to 64', 1, 64).default(2).describe('How many pairs of episodes run at once.'),
  episode_host: oneOf(['service', 'workers'])
    .default('service')
    .describe(
      'Who plays episodes: the `service` on its own machine, or `workers` on other machines, which `svc worker` starts. Then `evolution.episode_workers` says how many pairs of one step are offered at once.',
    ),
  candidates: whole('must be a whole number from 1 to 16', 1, 16)
    .default(6)
    .describe(
      'For how many changes a step on traffic asks its proposer, where there are four train tasks to screen them on. What helps there is proved as one change.',
    ),
  screen_share: z
    .number('must be a number from 0 to 0.9')
    .min(0, 'must be a number from 0 to 0.9')
    .max(0.9, 'must be a number from 0 to 0.9')
    .default(0.4)
    .describe("The share of a step's episodes that the screening on train tasks may play, 48 at most. 0: one change, without a screening."),
  max_model_calls_per_step: none.describe('How many calls of the model one step may make, those of `judge` included. 0: no limit.'),
  max_episodes_per_step: none.describe('How many episodes one step may play, trials included. 0: as many as the selection likes.'),
  prices: z
    .record(
      text,
      section({
        input: money().describe(
          'What a million tokens of questions cost, with the model of this name. `*` stands for every other model. Without a price tokens are shown, and the cost is unknown.',
        ),
        output: money().describe('What a million tokens of answers cost.'),
        cached: money()
          .nullable()
          .default(null)
          .describe('What a million tokens of questions cost that the provider had in its cache. Unset: as much as `input`.'),
      }),
      'must be a section of models, each {input, output, cached?}',
    )
    .default({})
    .describe(
      'What a million tokens cost, by the name of the model: `{input, output, cached?}`. `*` stands for every other one. Without a price tokens are shown, and the cost is unknown.',
    ),
  max_tokens_per_step: from0
    .default(50_000_000)
    .describe(
      'How many tokens one step may take, all its episodes and model calls together, wherever they are made. A call that could pass it is not sent; then the step ends, and its case stays open. 0: no limit.',
    ),
  max_cost_per_step: money().default(25).describe('The same in money, of what has a price. 0: no limit.'),
  max_tokens_per_day: from0
    .default(200_000_000)
    .describe('How many tokens the steps of one scenario may take in a day (UTC). Then none begins until the next. 0: no limit.'),
  max_cost_per_day: money().default(100).describe('The same in money, of what has a price. 0: no limit.'),
  sandbox: section({
    memory_bytes: count.default(2_147_483_648).describe('How much memory the processes of one episode may hold together.'),
    processes: count.default(256).describe('How many processes one episode may have; of threads eight times as many.'),
    disk_bytes: count.default(536_870_912).describe('How much one episode may write.'),
    files: count.default(20_000).describe('How many files and folders one episode may make.'),
    model_calls: count.default(500).describe('How many calls of the model one episode in the sandbox may make.'),
    model_tokens: count.default(20_000_000).describe('How many tokens they may take together, of questions and answers.'),
    model_cost: price().describe('How much money they may take together, by the two prices below. 0: no limit.'),
    input_price: price().describe('What a million tokens of questions cost.'),
    output_price: price().describe('What a million tokens of answers cost.'),
  })
    .prefault({})
    .describe('What one episode may use.'),
  reflect: section({
    trials_max: from0.default(12).describe('How many episodes one step of `reflect` may play before it proposes.'),
    candidates_max: count.default(3).describe('How many edits one step of `reflect` may try.'),
  })
    .prefault({})
    .describe('The proposer `reflect`.'),
  promote_failures: flag
    .default(false)
    .describe('Whether failing reports become tasks: half of them are kept from the proposer and join the gate.'),
  max_promoted_tasks: count.default(50).describe('How many tasks may come from reports.'),
  max_promoted_per_client: count.default(5).describe('How many of them may come from one client.'),
  max_rejected_history: count.default(25).describe('How many rejected proposals a proposer is shown, beside those that people rejected.'),
  proposals_dir: text.default(`${STATE_DIRECTORY}/proposals`).describe('Where proposals of agents wait.'),
  max_pending_proposals: count.default(8).describe('How many proposals may wait in one scenario.'),
  step_record_dir: text
    .nullable()
    .default(`${STATE_DIRECTORY}/steps`)
    .describe('Where steps leave what they asked, proposed and played. `null` records nothing.'),
  step_record_bytes: count.default(1_073_741_824).describe("How much of that is kept per scenario; the oldest steps' go first."),
  max_steps: none.describe('After so many steps no automatic one starts any more; instructions still run. 0: no limit.'),
  max_failure_streak: none.describe(
    'After so many steps in a row that brought nothing better no automatic one starts any more; instructions still run. 0: no limit.',
  ),
})
