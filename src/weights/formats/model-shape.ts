/** What a base model is, as far as its adapters depend on it. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { invalid, unsupported, type ModelShape } from '../../contract/index.ts'
import { isMissing } from '../../kit/index.ts'
import { readJsonObject } from './files.ts'
import { readGgufFile } from './gguf.ts'

const CODE = 'bad_model'
const HEADS_MAX = 65_536

/** Of a GGUF file, of a Hugging Face folder, or of its config.json. */
export async function readModelShape(path: string): Promise<ModelShape> {
  const status = await stat(path).catch((error: unknown) => {
    if (isMissing(error)) throw invalid(CODE, 'the base model is not there: name a GGUF file, or a folder with a config.json')
    throw error
  })
  if (status.isDirectory()) return shapeOfConfig(join(path, 'config.json'))
  return path.endsWith('.json') ? shapeOfConfig(path) : shapeOfGguf(path)
}

async function shapeOfConfig(path: string): Promise<ModelShape> {
  const { model_type, num_attention_heads, num_key_value_heads } = await readJsonObject(path, CODE)
  if (typeof model_type !== 'string') throw invalid(CODE, 'config.json must name its model_type')
  const heads = headCount(num_attention_heads, 'num_attention_heads of config.json')
  return { architecture: model_type, heads, kvHeads: headCount(num_key_value_heads ?? heads, 'num_key_value_heads of config.json') }
}

async function shapeOfGguf(path: string): Promise<ModelShape> {
  const { metadata } = await readGgufFile(path)
  const valueOf = (key: string) => metadata.get(key)?.value
  const architecture = valueOf('general.architecture')
  if (typeof architecture !== 'string') throw invalid(CODE, 'general.architecture of the GGUF file must be a name')
  const key = `${architecture}.attention.head_count`
  const heads = headCount(valueOf(key), key)
  return { architecture, heads, kvHeads: headCount(valueOf(`${key}_kv`) ?? heads, `${key}_kv`) }
}

function headCount(value: unknown, name: string): number {
  if (Array.isArray(value))
    throw unsupported('unsupported_architecture', `${name} differs by layer; only models with one number of heads are supported`)
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= HEADS_MAX) return value
  throw invalid(CODE, `${name} must be a whole number from 1 to ${HEADS_MAX}`)
}
