import type { ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isProblem } from '../contract/problem.ts'
import { Page } from '../parts/page.tsx'
import { Failed } from '../parts/states.tsx'
import { t } from '../words/words.ts'
import { NotFound } from './not-found.tsx'

const reloadedKey = 'svc.reloaded'

/** A page whose file is gone after an update is loaded again, once. */
const isOldChunk = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|Importing a module/i.test(error.message)

export const Crashed = ({ error, reset }: ErrorComponentProps) => {
  useEffect(() => {
    if (!isOldChunk(error)) return
    const last = Number(sessionStorage.getItem(reloadedKey) ?? 0)
    if (Date.now() - last < 30_000) return
    sessionStorage.setItem(reloadedKey, String(Date.now()))
    location.reload()
  }, [error])
  if (isProblem(error) && error.status === 404) return <NotFound />
  return (
    <Page title={t('crashed.title')}>
      <Failed error={error} again={reset} />
    </Page>
  )
}
