/** Hears of what is used of a folder whose size is bounded, and of what is added to it. */
export interface FolderUsage {
  /** The path may be used once this resolves, and is not removed for a while. Never rejects. */
  use(path: string): Promise<void>
  grew(bytes: number): void
}
