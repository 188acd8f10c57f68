/** What was committed, told to those who listen on the same database in the same process. Others find it by looking. */
export class Announcements {
  readonly #listeners = new Set<(topic: string) => void>()
  readonly #report: (message: string, error: unknown) => void

  constructor(report: (message: string, error: unknown) => void) {
    this.#report = report
  }

  listen(listener: (topic: string) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  tell(topics: ReadonlySet<string>): void {
    for (const topic of topics)
      for (const listener of this.#listeners) {
        try {
          listener(topic)
        } catch (error) {
          this.#report('A listener of committed changes failed; the commit itself stands', error)
        }
      }
  }
}
