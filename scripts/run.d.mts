/** The types of what TypeScript takes from there. */
export const ROOT: string
export function pinnedNode(): string
export function runForCode(program: string, args: readonly string[]): Promise<number>
export function runScript(script: () => Promise<void>): void
