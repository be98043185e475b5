/** The provenance of an adapter, in a file beside it: what trained it, from what, and the digest of each of its files. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { ADAPTER_CONFIG_FILE, canonicalJson, invalid, type Json } from '../../contract/index.ts'
import { parsed } from '../../dialects/index.ts'
import { ADAPTER_GGUF } from './adapter-gguf.ts'
import { readIfThere, sha256OfFile } from './files.ts'
import { ADAPTER_WEIGHTS, readAdapter, type PeftAdapter } from './peft.ts'

export const PROVENANCE = 'svc-provenance.json'

const CODE = 'bad_adapter'
const FORMAT = 1
const PROVENANCE_BYTES_MAX = 32 * 1024 * 1024
const DIGESTED = [ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS, ADAPTER_GGUF] as const

const text = z.string().min(1)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const schema = z.object({
  format: z.literal(FORMAT),
  scenario: text,
  step: z.int().nonnegative().optional(),
  job: text,
  base_model: text,
  base_digest: text.nullable(),
  parent: z.object({ release_id: text.nullable(), job: text.nullable() }),
  /** The trainer's name for the adapter and its optimizer: what the next job branches from. */
  trainer_state: text,
  objective: text,
  optimizer_steps: z.int().nonnegative(),
  metrics: z.record(z.string(), z.json()).optional(),
  /** The log-probabilities of the trained weights for every token but the first: an engine that answers otherwise serves other weights. */
  probe: z
    .object({
      tokens: z.array(z.int().nonnegative()),
      log_probs: z.array(z.number()),
      /** Of the untrained base, for the same tokens. */
      base_log_probs: z.array(z.number()).exactOptional(),
    })
    .refine(({ tokens, log_probs }) => log_probs.length === tokens.length - 1, 'must have one number for every token but the first')
    .nullable(),
  files: z.partialRecord(z.enum(DIGESTED), sha256),
})

export type Provenance = z.infer<typeof schema>
/** What the trainer of an adapter knows; the rest is computed from the folder. */
export type Origin = Omit<Provenance, 'format' | 'files'>

/** Of the files in the folder as they are now. The same origin and files give the same bytes. Nothing is synced. */
export async function writeProvenance(directory: string, origin: Origin): Promise<Provenance> {
  const printed = JSON.stringify({ ...origin, format: FORMAT, files: await digestsIn(directory) })
  const provenance = readProvenance(printed)
  const value: Json = JSON.parse(printed)
  await writeFile(join(directory, PROVENANCE), `${canonicalJson(value)}\n`)
  return provenance
}

export function readProvenance(printed: string): Provenance {
  const { data, error } = schema.safeParse(parsed(printed))
  if (data !== undefined) return data
  const { path = [], message = '' } = error.issues[0] ?? {}
  throw invalid(CODE, `${PROVENANCE} is not as it was written: ${[...path, message].join(': ')}; restore it, or remove it with its adapter`)
}

/** A foreign adapter has no provenance, and is accepted when it was made for this base. */
export async function checkAdapter(
  directory: string,
  base: { readonly name: string; readonly digest: string | null },
): Promise<{ readonly adapter: PeftAdapter; readonly provenance: Provenance | null }> {
  const adapter = await readAdapter(directory)
  checkBase(adapter, base.name)
  const provenance = await provenanceIn(directory)
  if (provenance === null) return { adapter, provenance }
  if (provenance.base_model !== base.name) throw otherBase(`base_model of ${PROVENANCE}`)
  const digest = provenance.base_digest
  if (digest !== null && base.digest !== null && digest !== base.digest) throw otherBase(`base_digest of ${PROVENANCE}`)
  await checkDigests(directory, provenance)
  return { adapter, provenance }
}

/** By name: a digest of it is nowhere in a plain adapter. */
export function checkBase({ baseModel }: PeftAdapter, name: string): void {
  if (baseModel !== name) throw otherBase(`base_model_name_or_path of ${ADAPTER_CONFIG_FILE}`)
}

export async function provenanceIn(directory: string): Promise<Provenance | null> {
  const bytes = await readIfThere(join(directory, PROVENANCE), PROVENANCE_BYTES_MAX, CODE)
  return bytes === null ? null : readProvenance(bytes.toString())
}

/** A file without a recorded digest is as wrong as one with another digest. */
async function checkDigests(directory: string, { files }: Provenance): Promise<void> {
  const found = await digestsIn(directory)
  const wrong = DIGESTED.find((name) => found[name] !== files[name])
  if (wrong !== undefined)
    throw invalid(CODE, `${wrong} is not the file that ${PROVENANCE} has the digest of; restore both from one release`)
}

async function digestsIn(directory: string): Promise<Provenance['files']> {
  const digests: Provenance['files'] = {}
  for (const name of DIGESTED) {
    const digest = await sha256OfFile(join(directory, name))
    if (digest !== null) digests[name] = digest
  }
  return digests
}

const otherBase = (field: string) => invalid(CODE, `${field} is another base model than the one served; an adapter fits its own base alone`)
