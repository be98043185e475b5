/** The bare repository on the disk: made once and whole, recognised afterwards. */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invalid, type Refusal } from '../../../src/contract/index.ts'
import { exists, mkdirp, sync, writeAtomicFile } from '../../../src/kit/index.ts'
import { git } from './process.ts'

/**
 * Rows name releases that no ref reaches, such as a head whose pointer a crash left behind. Git calls those garbage, so it must never
 * collect: not on its own, not after a push, and not when a person runs `git gc --prune=now`. Precious objects are git's own
 * word for that, and the format version is what makes every git obey it.
 */
const MARK = '# Releases are named by rows that git cannot see: every object here is precious.'
const SETTINGS = `
${MARK}
[core]
\trepositoryformatversion = 1
\tfsync = all
\tfsyncMethod = batch
[extensions]
\tpreciousObjects = true
[gc]
\tauto = 0
\tpruneExpire = never
[receive]
\tautogc = false
[maintenance]
\tauto = false
`

export async function openRepository(path: string): Promise<void> {
  if (!(await isRepository(path))) await createRepository(path)
  const settings = await readFile(join(path, 'config'), 'utf8')
  if (/^[^\S\n\r\u2028\u2029]*objectformat\s*=\s*(?!sha1)/im.test(settings)) {
    throw invalid('bad_repository', "repository holds SHA-256 objects; configure one of git's default SHA-1 format")
  }
  await refuseUnknownSettings(path)
  if (!settings.includes(MARK)) await writeAtomicFile(join(path, 'config'), settings + SETTINGS)
}

/** What a bare repository, a clone of one and this service write there. A setting that is not known may make git start a program. */
const KNOWN_SETTING = new RegExp(
  `^(?:${[
    'core\\.(?:repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks|sharedrepository|logallrefupdates|fsync|fsyncmethod|compression)',
    'extensions\\.(?:preciousobjects|objectformat)',
    'gc\\.(?:auto|pruneexpire)',
    'maintenance\\.auto',
    'receive\\.(?:autogc|fsckobjects|denynonfastforwards|denydeletes)',
    'remote\\.[\\w-]+\\.(?:url|fetch|mirror|tagopt)',
    'lfs\\.repositoryformatversion',
  ].join('|')})$`,
)

async function refuseUnknownSettings(path: string): Promise<void> {
  const printed = await git(['config', `--file=${join(path, 'config')}`, '--no-includes', '--null', '--name-only', '--list'])
  const keys = printed.toString().split('\0')
  const unknown = keys.filter((key) => key !== '' && !KNOWN_SETTING.test(key))
  if (unknown.length === 0) return
  throw invalid(
    'bad_repository',
    `the config of the repository sets ${JSON.stringify(unknown[0])}, which may start programs; move it to your own git settings with git config --global`,
  )
}

async function isRepository(path: string): Promise<boolean> {
  const parts = await Promise.all(['HEAD', 'config', 'objects', 'refs'].map((name) => exists(join(path, name))))
  return parts.every(Boolean)
}

/** Made beside and renamed whole: of several processes starting at once one wins, and a crash leaves no half of a repository. */
async function createRepository(path: string): Promise<void> {
  await mkdirp(dirname(path))
  const beside = `${path}.${randomUUID()}`
  try {
    await git(['init', '--quiet', '--bare', '--template=', '--object-format=sha1', '--initial-branch=main', beside])
    await writeAtomicFile(join(beside, 'config'), (await readFile(join(beside, 'config'), 'utf8')) + SETTINGS)
    await writeAtomicFile(join(beside, 'HEAD'), await readFile(join(beside, 'HEAD'), 'utf8'))
    await rename(beside, path)
    await sync(dirname(path))
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    if (await isRepository(path)) return
    throw (await exists(path)) ? notARepository() : error
  }
}

const notARepository = (): Refusal =>
  invalid(
    'bad_repository',
    'this is not a bare git repository; set storage.artifact_repository to one, or to a folder that does not exist yet',
  )
