import { Failure } from '../../../kernel/failure.ts'

interface Page {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A refusal that somebody reads in a browser: it is told as this page. */
export class RefusedOnPage extends Failure {
  readonly page: Page

  constructor(refused: Failure, page: Page) {
    const { code, message, details, headers, forOperator, retryAfterSeconds } = refused
    super(code, message, {
      details,
      headers,
      forOperator,
      cause: refused,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    })
    this.page = page
  }
}

/** Tells what it refuses on the page that is made of it. */
export const refusedOn = async <T>(pageOf: (refused: Failure) => Page, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof Failure ? new RefusedOnPage(error, pageOf(error)) : error
  }
}
