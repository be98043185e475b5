export function compiledFolder(root: string, environment: Readonly<Record<string, string | undefined>>): string | null
