/** The engines of the loop: real ones where they are installed, else the test servers of their routes with the real tiny model. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from '../../support/listen.ts'
import { until } from '../../support/wait.ts'
import { spawnEngine } from '../engines/process.ts'
import type { RealEngine } from './install.ts'

export interface EngineProcess {
  readonly url: string
  readonly port: number
  /** SIGKILL, with all its workers; resolves when it is gone. */
  kill(): Promise<void>
}

/** What every engine of the loop is started for. */
export const RANK_MAX = 8
export const ADAPTERS_MAX = 4
/** Heads of a width that vLLM computes on a processor too. */
export const MODEL = ['--heads', '2']
/** The same with other weights. */
export const OTHER_MODEL = [...MODEL, '--seed', '2']
const TOKEN_MS_MAX = 300_000
const MODULES = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']
/** Stands in for the kernels of SGLang, which need a graphics card. */
const SGLANG_KERNELS = join(import.meta.dirname, 'sglang-without-card')

interface Start {
  readonly model: string
  readonly port: number
  readonly modules: readonly string[]
}

/** On a port of before, and for other layers than all, where they are given. */
export async function startEngine(
  name: RealEngine,
  python: string | null,
  model: string,
  { port, modules = MODULES }: Partial<Omit<Start, 'model'>> = {},
): Promise<EngineProcess> {
  if (python !== null) return startReal(name, python, { model, port: port ?? (await freePort()), modules })
  const limits = ['--capacity', String(ADAPTERS_MAX), '--rank', String(RANK_MAX), '--modules', modules.join()]
  return spawnEngine(name, ...limits, '--gguf', join(model, 'model.gguf'), ...(port === undefined ? [] : ['--port', String(port)]))
}

/** Throws where it cannot be started, or gives no token. */
export async function tryEngine(name: RealEngine, python: string, model: string): Promise<void> {
  const engine = await startReal(name, python, { model, port: await freePort(), modules: MODULES })
  try {
    const body = JSON.stringify({ model: 'tiny', prompt: 'user: hi', max_tokens: 1, logprobs: 1 })
    const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(TOKEN_MS_MAX) }
    const answer = await fetch(`${engine.url}/v1/completions`, asked)
    if (!answer.ok) throw new Error(`its first token was status ${answer.status}`)
  } finally {
    await engine.kill()
  }
}

async function startReal(name: RealEngine, python: string, start: Start): Promise<EngineProcess> {
  const { port } = start
  const args = { vllm: vllmArguments, sglang: sglangArguments }[name](start)
  const env = { ...process.env, ...ENVIRONMENT, CUDA_VISIBLE_DEVICES: '' }
  const child = spawn(python, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (part: Buffer) => (complaints = (complaints + part.toString()).slice(-2000)))
  const killAll = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.once('exit', killAll)
  const ended = once(child, 'close').finally(() => process.off('exit', killAll))
  const url = `http://127.0.0.1:${port}`
  const ready = until(async () => (await fetch(`${url}/health`).catch(() => null))?.ok === true)
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(`${name} did not start: ${complaints}`)))])
  return {
    url,
    port,
    kill: async () => {
      killAll()
      await ended
    },
  }
}

const ENVIRONMENT = {
  HF_HUB_OFFLINE: '1',
  OMP_NUM_THREADS: '1',
  // What was compiled at one start is there for the next: three processes import gigabytes of Python each time.
  PYTHONDONTWRITEBYTECODE: '',
  // Nothing is compiled on the spot: that takes minutes, and a model this small gains nothing by it.
  TORCH_COMPILE_DISABLE: '1',
  VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1',
  VLLM_SERVER_DEV_MODE: '1',
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  VLLM_NO_USAGE_STATS: '1',
  // Without this it takes itself for one on a card, and looks for kernels of vLLM.
  SGLANG_USE_CPU_ENGINE: '1',
  PYTHONPATH: SGLANG_KERNELS,
}

const vllmArguments = ({ model, port, modules }: Start): readonly string[] => [
  ...words(`-m vllm.entrypoints.openai.api_server --served-model-name tiny --host 127.0.0.1 --port ${port} --dtype float32`),
  ...words(`--enforce-eager --max-num-seqs 16 --enable-lora --max-lora-rank ${RANK_MAX} --max-loras 2 --max-cpu-loras ${ADAPTERS_MAX}`),
  // Left to itself it also prepares the output layer, and breaks down when one request of several asks how likely its prompt is.
  ...words(`--logprobs-mode processed_logprobs --lora-target-modules ${modules.join(' ')} --model`),
  model,
]

const sglangArguments = ({ model, port, modules }: Start): readonly string[] => [
  ...words(`-m sglang.launch_server --served-model-name tiny --host 127.0.0.1 --port ${port} --dtype float32 --device cpu`),
  ...words(`--mem-fraction-static 0.2 --enable-lora --max-lora-rank ${RANK_MAX} --max-loras-per-batch 2 --lora-backend torch_native`),
  ...words(`--attention-backend torch_native --sampling-backend pytorch --max-total-tokens 16384 --disable-cuda-graph`),
  ...words(`--max-loaded-loras ${ADAPTERS_MAX} --lora-target-modules ${modules.join(' ')} --model-path`),
  model,
]

const words = (text: string): readonly string[] => text.split(' ')
