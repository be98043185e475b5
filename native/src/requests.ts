/** `harness` and `report`: what the wrapper of every other agent has, for a folder that was pulled. */
import { homeOf, moveReceipts, readReleaseFile, report, request, type Install, openTerminal } from '@svc-ai/agent/shared'
import { Failure } from '@svc-ai/client/shared'
import { placesIn, serviceIn } from './places.ts'

export const harnessCommand = (args: readonly string[]): Promise<number> => withInstall(args, request)

export const reportCommand = (args: readonly string[]): Promise<number> => withInstall(args, report)

/** Nothing was installed here: what the commands read of an install is the service, the scenario and the release. */
async function withInstall(args: readonly string[], command: typeof report): Promise<number> {
  const { given, rest } = taken(args)
  const places = placesIn(given['tree'] ?? '.')
  await moveReceipts(homeOf(process.env))
  const release = await readReleaseFile(places.root, homeOf(process.env))
  if (release === null || release.release_id === '')
    throw new Failure(`${places.root} holds no release: pull one with 'svc-client pull', or name another folder with --tree`)
  const { url, scenario } = await serviceIn(places, { url: given['url'], scenario: given['scenario'] })
  const record: Install['record'] = {
    format: 1,
    adapter: 'native',
    binary: 'svc-native',
    url,
    scenario,
    release_id: release.release_id,
    content_id: release.content_id,
    files: {},
    binding: {},
    harness_paths: [],
    placeholders: { url: '', token: '' },
    requires: [],
    fallback_release_id: null,
    install: { manager: 'npm', package: '', version: '', binary_path: '' },
    client: { env: {}, env_defaults: {}, state: [], tools: [] },
    destination: places.root,
    prefix: places.root,
    executable: '',
  }
  return command({ folder: places.native, record, env: process.env }, rest, openTerminal())
}

const OURS: ReadonlySet<string> = new Set(['--tree', '--url', '--scenario'])

/** Our options out of the words, whichever way they are spelt. */
function taken(args: readonly string[]): { readonly given: Readonly<Record<string, string>>; readonly rest: readonly string[] } {
  const given: Record<string, string> = {}
  const rest: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? ''
    const [option = '', ...value] = word.split('=')
    if (!OURS.has(option)) rest.push(word)
    else if (value.length > 0) given[option.slice(2)] = value.join('=')
    else given[option.slice(2)] = args[(at += 1)] ?? ''
  }
  return { given, rest }
}
