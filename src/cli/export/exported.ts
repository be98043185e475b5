/**
 * Which files of an export hold records of somebody who was forgotten. They were written once and are others' to read, so they are named, and
 * not changed: their owner removes them.
 */
import type { LoadedConfig } from '../../config/index.ts'
import type { ForgottenRecord, SearchedPlace } from '../../contract/index.ts'
import { folderOf, ManifestBook } from './manifest.ts'
import { openPlace } from './place.ts'

export async function placesOfExports(
  exports: readonly string[],
  loaded: LoadedConfig,
  receipts: readonly ForgottenRecord[],
): Promise<readonly SearchedPlace[]> {
  const searched = 'records of the person in exported files'
  const places: SearchedPlace[] = []
  for (const to of exports) {
    const place = await openPlace(to, loaded)
    try {
      const left: SearchedPlace[] = []
      for (const [scenario, records] of Map.groupBy(receipts, (each) => each.scenario)) {
        const folder = folderOf(scenario)
        const { value } = await ManifestBook.open(place, folder)
        for (const { name, first, last } of value?.files ?? []) {
          const found = records.filter(({ sequence }) => sequence >= first && sequence <= last).length
          if (found > 0) left.push({ place: `${to}/${folder}/${name}`, searched, found })
        }
      }
      places.push(...(left.length === 0 ? [{ place: to, searched, found: 0 }] : left))
    } finally {
      await place.close()
    }
  }
  return places
}
