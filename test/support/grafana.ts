/** The types of a dashboard that Grafana publishes, and what the compiler says of a dashboard that is held against them. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { demand } from '../needs/missing.ts'

const VERSION = '13.2.3'
const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'node_modules/.cache/svc-grafana', VERSION)
const TYPES = join(FOLDER, 'node_modules/@grafana/schema/dist/types')

export const isGrafanaSchemaThere = (): boolean => existsSync(TYPES)

export async function installGrafanaSchema(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}')
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', ['install', ...quietly, `@grafana/schema@${VERSION}`], { cwd: FOLDER })
}

/** Names of fields in JSON, with the words of an enumeration as the text that they are there. */
const WIRE = `import type { Dashboard, FieldConfigSource, Panel, RowPanel, VariableModel } from '@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts'
import type { Options as StatOptions } from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen.d.ts'
import type { Options as SeriesOptions, FieldConfig as SeriesField } from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen.d.ts'

type Wire<T> = T extends string ? \`\${T}\` : T extends readonly (infer E)[] ? Wire<E>[] : T extends object ? { [K in keyof T]: Wire<T[K]> } : T
/** Options may be left out at any depth: the panel has defaults. */
type Some<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> } : T
type Fields<C> = Omit<Wire<FieldConfigSource>, 'defaults'> & { defaults: Omit<Wire<FieldConfigSource['defaults']>, 'custom'> & { custom?: Some<Wire<C>> } }
type Drawn<N extends string, O, C> = Omit<Wire<Panel>, 'type' | 'options' | 'fieldConfig'> & { type: N; options: Some<Wire<O>>; fieldConfig: Fields<C> }
type AnyPanel = Drawn<'stat', StatOptions, object> | Drawn<'timeseries', SeriesOptions, SeriesField> | (Omit<Wire<RowPanel>, 'panels'> & { panels: AnyPanel[] })
export type File = Omit<Wire<Dashboard>, 'panels' | 'templating'> & { panels: AnyPanel[]; templating: { list: Wire<VariableModel>[] } }
`

/** The compiler's complaints about it, none where it fits. */
export function misfits(dashboard: unknown, folder: string): string {
  demand('grafana schema')
  writeFileSync(join(folder, 'wire.ts'), WIRE)
  writeFileSync(
    join(folder, 'dashboard.ts'),
    `import type { File } from './wire.ts'\nexport const file: File = ${JSON.stringify(dashboard, null, 1)}\n`,
  )
  const options = {
    strict: true,
    noEmit: true,
    module: 'preserve',
    target: 'esnext',
    types: [],
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    paths: {
      '@grafana/schema': [join(TYPES, 'index.d.ts')],
      '@grafana/schema/dist/types/*': [join(TYPES, '*')],
    },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['dashboard.ts'] }))
  const { stdout, error } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' })
  if (error !== undefined) throw error
  return stdout
}
