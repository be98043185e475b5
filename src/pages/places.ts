/** The places of rows in the catalog: where a release was made, which one is served, what each is called. */
import { stepView, type StepView } from '../presentation/index.ts'
import type { PageRow, PageView, ReleasePlaces } from './view.ts'

/** The place of the newest row that published: what clients pull now. */
export const servedPlace = (releases: ReleasePlaces): number | undefined =>
  [...releases].findLast(([, { result, pending }]) => result === 'published' && !pending)?.[0]

/** The place of the row that made a release. */
export const placeOf = (releases: ReleasePlaces, releaseId: string): number | undefined =>
  [...releases].find(([, row]) => row.release_id === releaseId)?.[0]

export const rowsIn = (releases: ReleasePlaces): readonly PageRow[] => [...releases.values()]

export const shownStep = ({ releases, carried = [] }: Pick<PageView, 'releases' | 'carried'>, row: PageRow): StepView =>
  stepView(row, { rows: rowsIn(releases), nameOf: ({ release_id }) => `v${placeOf(releases, release_id)}`, carried })
