/** The folders of one run: the service's data, the inboxes and step records of its scenarios, and a folder for temporary files of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { placeIn, type Place } from '../child.ts'

export interface Scene extends Place {
  readonly proposals: string
  readonly steps: string
  readonly temporary: string
}

export function sceneIn(directory: string): Scene {
  const below = (name: string): string => join(directory, name)
  const scene = { ...placeIn(directory), proposals: below('proposals'), steps: below('steps'), temporary: below('temporary') }
  for (const folder of [scene.proposals, scene.steps, scene.temporary]) mkdirSync(folder)
  return scene
}
