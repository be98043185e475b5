/** The engine's adapters as the status route shows them. */
import type { JsonObject, ServedAdapter } from '../../contract/index.ts'
import { parseAdapterName, printLoadId } from '../load-id.ts'
import type { Leases } from './leases.ts'
import type { Residency, Slot } from './residency.ts'

export function residencyStatus(
  capacity: number,
  table: Residency,
  leases: Leases,
  served: ReadonlyMap<string, ServedAdapter | null>,
): JsonObject {
  const slots = table.slots()
  const names = new Set([...served.keys(), ...slots.flatMap(({ scenario }) => scenario ?? [])])
  const shown = [...names].map((name) => {
    const current = served.get(name) ?? null
    const resident = slots.filter(({ scenario }) => scenario === name).flatMap(loadIdOf)
    return [name, { current: current && { runtime_load_id: current.runtime_load_id, adapter: current.adapter }, resident }] as const
  })
  return {
    capacity,
    resident: slots.length,
    leaked: table.leaked,
    protected: slots.filter((slot) => table.isProtected(slot)).length,
    in_flight: leases.count,
    ...table.ledger.status(),
    scenarios: Object.fromEntries(shown),
  }
}

function loadIdOf({ name }: Slot): readonly string[] {
  const load = parseAdapterName(name)
  return load === null ? [] : [printLoadId(load)]
}
