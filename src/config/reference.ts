/** Generates the configuration reference page and the JSON schema from the schema. */
import * as z from 'zod'
import { allKeys, descriptionOf, namesAt, typeAt, type Key } from './keys.ts'
import { LIVE_KEYS } from './reload.ts'
import { ENVIRONMENT, schema, SECRET_KEYS } from './schema.ts'

/** For editors and other programs. Every key is optional, as in a file. */
export function configJsonSchema(): object {
  return z.toJSONSchema(schema, { io: 'input' })
}

export function configReference(): string {
  const sections = (namesAt([]) ?? []).map((name) => sectionPage(name))
  return `${[HEAD, ...sections, TAIL].join('\n\n')}\n`
}

const HEAD = `# Configuration

This page is generated from \`src/config/schema.ts\` by \`npm run docs\`.

\`svc serve -c FILE\` reads one YAML file. Every key can also be given on the command line as \`--section.key value\`, \`--section.key=value\`
and, for true-or-false keys, \`--section.key\` or \`--no-section.key\`. The command line wins over the file, the file over the environment, the
environment over the default. \`svc serve --print-config\` prints every value with where it came from; \`svc config schema\` prints the JSON schema.

- Hyphens and underscores in key names are equal; the same key in both spellings, or twice, is refused.
- \`\${VAR}\` and \`\${VAR:-default}\` in a value are filled from the environment; an unset or empty variable without a default is refused.
  \`$\${\` stands for a plain \`\${\`.
- A key with nothing behind it (null) is as if it were not there.
- An unknown section or key, a wrong type or a value out of range is refused at start, with its line and the nearest known key.
- Relative paths of the file, and paths by default, start from the folder of the file, or from the working directory without one; paths on
  the command line start from the working directory. Plug-in paths start from the folder of the file wherever they are given. So \`svc doctor -c FILE\` looks at the same data from any folder.
- A list on the command line is given as \`[a, b]\` or one item at a time, repeating the option.
- SIGHUP makes a running service read the file again ([operations](operations.md#reloading)). It takes over
  ${LIVE_KEYS.map((key) => `\`${key}\``).join(', ')}; every other key needs a restart.`

const TAIL = `## How the upstream is found

The first of these that is there is used, unless \`inference.runtime\` is \`practice\`:

1. \`inference.upstream_url\` on the command line or in the file
2. \`SVC_UPSTREAM_URL\`, with \`SVC_UPSTREAM_MODEL\`, \`SVC_UPSTREAM_API\` and \`SVC_UPSTREAM_API_KEY\`
3. \`OPENAI_API_KEY\`: https://api.openai.com, or \`OPENAI_BASE_URL\`
4. \`ANTHROPIC_API_KEY\`, or \`ANTHROPIC_AUTH_TOKEN\` as a bearer token: https://api.anthropic.com, or \`ANTHROPIC_BASE_URL\`
5. a local Ollama that answers at http://127.0.0.1:11434
6. a built-in mock model; no API key needed

## Proxies and certificates

Calls to the upstream and to the multimodal gateway go through the proxy that the environment names. Engines and trainers are asked directly.

| Variable | |
|---|---|
| \`HTTPS_PROXY\` | for addresses with https: a tunnel (CONNECT). Unset: \`HTTP_PROXY\` |
| \`HTTP_PROXY\` | for addresses with http |
| \`NO_PROXY\` | hosts that are asked directly, separated by commas; \`example.com\` also means those below it, \`host:port\` one port, \`*\` all. \`localhost\`, \`127.0.0.1\` and \`::1\` are always asked directly |
| \`NODE_EXTRA_CA_CERTS\` | a PEM file with authorities that are trusted beside the usual ones |

The first three are also read in lower case, which wins. A proxy is \`http://host:port\` or \`https://host:port\`, with \`user:password@\` before the host where it asks for them. All are read once, at the start. \`svc doctor\` asks the upstream in the same way.

## An example

\`\`\`yaml
svc:
  port: \${PORT:-8900}
  token: \${MY_TOKEN}
inference:
  upstream_url: https://api.openai.com
  upstream_api_key: \${OPENAI_API_KEY}
storage:
  agent_record_dir: /var/lib/svc/agent-record
  artifact_repository: /var/lib/svc/artifacts.git
recipe: record-only
\`\`\``

function sectionPage(name: string): string {
  const type = typeAt([name])
  const rows = allKeys().filter(({ key }) => key === name || key.startsWith(`${name}.`))
  const isValue = rows.length === 1 && rows[0]?.key === name
  const lead = type === null || isValue ? '' : `${descriptionOf(type)}\n\n`
  return `## ${name}\n\n${lead}| Key | Default | |\n|---|---|---|\n${rows.map(keyRow).join('\n')}`
}

function keyRow(row: Key): string {
  const variable = ENVIRONMENT[row.key]
  const marks = [variable === undefined ? '' : ` From \`${variable}\`.`, SECRET_KEYS.has(row.key) ? ' Secret.' : '']
  return `| \`${row.key}\` | ${defaultText(row)} | ${row.description}${choices(row)}${marks.join('')} |`
}

function defaultText({ default: value }: Key): string {
  return value === null || value === undefined ? 'none' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function choices({ type }: Key): string {
  return type instanceof z.ZodEnum ? ` One of ${type.options.map((word) => `\`${String(word)}\``).join(', ')}.` : ''
}
