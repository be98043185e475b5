/** `npm run learn:weights`: the whole weight-training loop on a tiny model, with the rewards reached and the speed of its parts. */
import { parseArgs } from 'node:util'
import type { JsonObject } from '../src/contract/index.ts'
import { begin } from '../test/needs/ready.ts'
import { openTrainingWorld, playGroup, rowAt, type TrainingWorld } from '../test/weights/support/training-world.ts'

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    'engine-gpu': { type: 'boolean', default: false },
    layers: { type: 'string' },
    width: { type: 'string' },
    heads: { type: 'string' },
    steps: { type: 'string' },
    'pretraining-rate': { type: 'string' },
    rounds: { type: 'string', default: '8' },
    group: { type: 'string', default: '32' },
    'learning-rate': { type: 'string', default: '0.003' },
    rank: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
})
const HELP = `Usage: npm run learn:weights -- [options]
  --device cpu|cuda      where the model is made and trained (cpu)
  --engine-gpu           the engine uses the graphics card too; first: svc runtime add llama --gpu cuda
  --layers, --width, --heads, --steps, --pretraining-rate   of the model that is made on the spot
  --rounds N, --group N  how many groups of how many answers (8 of 32)
  --learning-rate X, --rank N   of the adapters`

const WANTED = 'blue'

interface Round {
  readonly reward: number
  readonly tokens: number
  readonly answerSeconds: number
  /** Null where all scores were equal and nothing was trained. */
  readonly stepSeconds: number | null
}

if (options.help) process.stdout.write(`${HELP}\n`)
else await main()

async function main(): Promise<void> {
  await begin(['torch', 'llama'])
  const device = options.device === 'cuda' ? 'cuda' : 'cpu'
  const training = await openTrainingWorld(
    {
      'training.group_size': Number(options.group),
      'training.learning_rate': Number(options['learning-rate']),
      'training.lora_rank': Number(options.rank),
      'inference.engine.parallel': 8,
      'inference.engine.gpu': options['engine-gpu'] ? 'auto' : 'off',
    },
    { model: modelOptions(device), device },
  )
  try {
    const rounds: Round[] = []
    for (let round = 1; round <= Number(options.rounds); round += 1) rounds.push(await play(training, round))
    print(rounds, await engineDevice(training.world))
  } finally {
    await training.close()
  }
}

function modelOptions(device: string): readonly string[] {
  return [
    ...(device === 'cpu' ? [] : ['--device', device]),
    ...named('--layers', options.layers),
    ...named('--width', options.width),
    ...named('--heads', options.heads),
    ...named('--steps', options.steps),
    ...named('--learning-rate', options['pretraining-rate']),
  ]
}

function named(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value]
}

/** One group: times its answers up to the last report, then its step up to the row. */
async function play({ world }: TrainingWorld, round: number): Promise<Round> {
  const seeds = Array.from({ length: Number(options.group) }, (_, index) => round * 1000 + index)
  const begun = performance.now()
  const reward = await playGroup(world, 'colours', `round-${round}`, { seeds, score })
  const answered = performance.now()
  const row = await rowAt(world, 'colours', round)
  const stepSeconds = row['artifact_ref'] === null ? null : (performance.now() - answered) / 1000
  const tokens = await generatedTokens(world, Number(options.group))
  process.stderr.write(`round ${round}: reward ${reward.toFixed(2)}\n`)
  return { reward, tokens, answerSeconds: (answered - begun) / 1000, stepSeconds }
}

function score(texts: readonly string[], index: number): number {
  return texts[index] === WANTED ? 1 : 0
}

async function generatedTokens(world: TrainingWorld['world'], group: number): Promise<number> {
  const page = await world.get(`/svc/scenarios/colours/records?request_type=inference&order=newest&limit=${Math.min(100, group)}`)
  const rows: readonly { readonly summary?: JsonObject }[] = JSON.parse(page.text).records
  return sum(rows.map(({ summary }) => Number(summary?.['output_tokens'] ?? 0)))
}

async function engineDevice(world: TrainingWorld['world']): Promise<string> {
  const status: { readonly serving: { readonly device: string } } = JSON.parse((await world.get('/svc/status')).text)
  return status.serving.device
}

function print(rounds: readonly Round[], device: string): void {
  process.stdout.write('| round | reward | tokens generated per second | seconds for the step |\n|--:|--:|--:|--:|\n')
  for (const [index, { reward, tokens, answerSeconds, stepSeconds }] of rounds.entries()) {
    const step = stepSeconds === null ? 'none: all alike' : stepSeconds.toFixed(2)
    process.stdout.write(`| ${index + 1} | ${reward.toFixed(2)} | ${(tokens / answerSeconds).toFixed(0)} | ${step} |\n`)
  }
  const steps = rounds.flatMap(({ stepSeconds }) => stepSeconds ?? [])
  const stepsPerSecond = steps.length / sum(steps)
  const tokensPerSecond = sum(rounds.map(({ tokens }) => tokens)) / sum(rounds.map(({ answerSeconds }) => answerSeconds))
  process.stdout.write(
    `\n${stepsPerSecond.toFixed(2)} steps per second, ${tokensPerSecond.toFixed(0)} tokens generated per second; the engine computed on: ${device}\n`,
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
