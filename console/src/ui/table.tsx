/** A table whose rows become cards on a narrow screen, each value with the name of its column. */
import type { ComponentChildren } from 'preact'

export function Table({ columns, children }: { readonly columns: readonly string[]; readonly children: ComponentChildren }) {
  return (
    <table class="table wraps">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

export function NumberCell({
  of,
  isBad = false,
  children,
}: {
  readonly of: string
  readonly isBad?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <td data-label={of} class={`number ${isBad ? 'failing' : ''}`}>
      {children}
    </td>
  )
}
