/** A release from the service to a folder and into memory: whole, or not at all. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { homeOf, readReleaseFile } from '@svc-ai/agent/shared'
import { connect, Failure, type Manifest, isTreePath, releaseText, trustOf, writeTree } from '@svc-ai/client/shared'
import { trustPulled, type TrustAnswer } from '@svc-ai/client/signing'
import { loadTree } from './load.ts'
import type { Tree } from './tree.ts'

/** The folder that keeps what was written to other folders. */
const home = (): string => homeOf(process.env)

/** Where a release comes from, and where it goes. */
export interface ReleaseSource {
  readonly root: string
  readonly url: string
  readonly scenario: string
  readonly token: string | null
}

/** A manifest that verified, and what is trusted once it is mounted. */
export interface CheckedRelease extends TrustAnswer {
  readonly manifest: Manifest
}

export interface Mounted {
  readonly releaseId: string
  readonly tree: Tree
}

/** Which release is wanted: the served one where neither is given. */
export interface WantedRelease {
  readonly release?: string | undefined
  /** The provisional one where there is one: it is unproven. */
  readonly provisional?: boolean
}

/** The release, found fit: written to a folder of its own and loaded there, so that nothing of the one in use is touched by one that is not. */
export async function fetchRelease(source: ReleaseSource, { release, provisional = false }: WantedRelease = {}): Promise<CheckedRelease> {
  const { root, url, scenario, token } = source
  const manifest = await connect({ url, scenario, token, provisional }).manifest(release)
  const answer = trustPulled(manifest, { url, scenario, env: process.env, kept: trustOf(root, home()), release, provisional })
  if (!Object.keys(manifest.files).some((path) => path.startsWith('native/')))
    throw new Failure('the harness of this scenario is for another agent: it has no files under native/')
  const folder = mkdtempSync(join(tmpdir(), 'svc-mount-'))
  try {
    writeTree(folder, manifest.files, releaseText(manifest, null), null)
    loadTree(join(folder, 'native'))
    return { manifest, ...answer }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What it is called where a person reads it. */
export const nameOf = (releaseId: string, isProvisional: boolean): string =>
  isProvisional ? `provisional release ${releaseId} (unproven)` : `release ${releaseId}`

/** Puts it in place of what is there. What cannot be written whole is taken back. */
export async function mount(root: string, { manifest, trust }: Pick<CheckedRelease, 'manifest' | 'trust'>): Promise<Mounted> {
  const [before, trusted] = [await filesOf(root), trustOf(root, home())]
  try {
    writeTree(root, manifest.files, releaseText(manifest, trust), home())
    return { releaseId: manifest.release_id, tree: loadTree(join(root, 'native')) }
  } catch (error) {
    if (before !== null) writeTree(root, before.files, releaseText(before, trusted), home())
    throw error
  }
}

async function filesOf(root: string): Promise<Parameters<typeof releaseText>[0] | null> {
  const release = await wholeReleaseIn(root)
  if (release === null) return null
  const files = release.files.filter(isTreePath).map((path) => [path, readFileSync(join(root, path), 'utf8')] as const)
  return { ...release, files: Object.fromEntries(files) }
}

async function wholeReleaseIn(root: string): ReturnType<typeof readReleaseFile> {
  const release = await readReleaseFile(root, home())
  return release?.release_id === '' ? null : release
}

/** What was mounted or pulled before; null when nothing was, whole. */
export async function mountedIn(root: string): Promise<Mounted | null> {
  const release = await wholeReleaseIn(root)
  return release === null ? null : { releaseId: release.release_id, tree: loadTree(join(root, 'native')) }
}
