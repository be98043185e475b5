/** `svc-client pull`: the tree that a scenario serves, as files in a folder. */
import { connect, type Address } from '../api.ts'
import { UsageError } from '../failure.ts'
import { homeOf } from '../kept-tree.ts'
import { COMMAND, INSECURE_VARIABLE, KEY_VARIABLE, RELEASE_FILE } from '../names.ts'
import type { Manifest } from '../wire.generated.ts'
import { COMMON, COMMON_HELP, onlyArgument, scenarioName, serviceUrl, tokenIn, readArguments } from '../options.ts'
import { isFingerprint } from '../signing/keys.ts'
import { trustPulled } from '../signing/pulled.ts'
import { trustIn } from '../signing/trust.ts'
import { releaseText, trustOf, writeTree, type TreeChange } from '../tree-files.ts'
import type { Command } from './command.ts'

const HELP = `Usage: ${COMMAND} pull <dir> --url <service_url> --scenario <name> [options]

Writes the harness that a scenario serves into a folder, and ${RELEASE_FILE} beside it, which says what was written.
Started again it brings the folder up to date: only what differs is written, and files that left the tree are removed.
Nothing is written that the key of the service did not sign, and no older release than one seen before; the first pull pins the key.
Everything else in the folder stays. A tree with a path that leads out of the folder, or through a symbolic link, is refused whole.

Options:
  --url <url>              where the service answers, such as http://127.0.0.1:8900
  --scenario <name>        the scenario whose harness is pulled
  --release <id>           this release instead of the one served, also one that is held for review
  --provisional            the provisional release where there is one: it is unproven
  --key <fingerprint>      trust this key of the service from now on, as 'svc key show' prints it
${COMMON_HELP}  ${KEY_VARIABLE}                  the fingerprint to pin at the first pull
  ${INSECURE_VARIABLE}=1      allow a service beyond this machine without TLS

Exit status: 0 the folder holds the release, 1 it does not, 2 the command was not understood.
`

interface PullArguments extends Address {
  readonly folder: string
  readonly scenario: string
  readonly release: string | undefined
  readonly provisional: boolean
  readonly key: string | undefined
  readonly env: NodeJS.ProcessEnv
  readonly json: boolean
}

export const pullCommand: Command<PullArguments> = {
  help: HELP,
  parse: (argv, env) => {
    const { values, positionals } = readArguments(argv, {
      ...COMMON,
      release: { type: 'string' },
      provisional: { type: 'boolean', default: false },
      key: { type: 'string' },
    })
    if (values.help) return null
    if (values.key !== undefined && !isFingerprint(values.key))
      throw new UsageError('--key must be a fingerprint, as svc key show prints it')
    return {
      folder: onlyArgument(positionals, 'the folder to write to'),
      url: serviceUrl(values.url),
      scenario: scenarioName(values.scenario),
      release: values.release,
      provisional: values.provisional,
      key: values.key,
      env,
      json: values.json,
      token: tokenIn(env),
    }
  },
  about: ({ folder, url, scenario }) => ({ folder, url, scenario }),
  run: async (options) => {
    const { folder, url, scenario, release, provisional, key, env } = options
    const home = homeOf(env)
    const kept = key === undefined ? trustOf(folder, home) : trustIn(key)
    const manifest = await connect(options).manifest(release)
    const { trust, note } = trustPulled(manifest, { url, env, kept, scenario, release, provisional })
    const { written, removed } = writeTree(folder, manifest.files, releaseText(manifest, trust), home)
    const change = { written: written.filter((path) => path !== RELEASE_FILE), removed }
    const { release_id, content_id, requires } = manifest
    const isCurrent = written.length + removed.length === 0
    const text =
      (isCurrent ? current(options, manifest) : changed(options, manifest, change)) + needs(manifest) + (note === null ? '' : `${note}\n`)
    const isUnproven = manifest.provisional === true && { provisional: true }
    return { text, data: { release_id, content_id, ...isUnproven, current: isCurrent, ...change, requires, key: trust.key } }
  },
}

const current = ({ folder }: PullArguments, manifest: Manifest): string =>
  `${folder} holds ${named(manifest)} already; nothing was written\n`

const changed = ({ folder }: PullArguments, manifest: Manifest, { written, removed }: TreeChange): string =>
  `${named(manifest)} is in ${folder}: ${written.length} files written, ${removed.length} removed\n`

const named = ({ release_id, provisional }: Manifest): string =>
  provisional === true ? `provisional release ${release_id} (unproven)` : `release ${release_id}`

/** Nothing here checks them: a tree pulled by hand is set up by hand. */
const needs = ({ requires }: Manifest): string =>
  requires.map(({ name, kind, prompt }) => `needs ${kind} ${name}${prompt === undefined ? '' : `: ${prompt}`}\n`).join('')
