import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ExactFilter } from '../../parts/exact-filter.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { ask } from '../../session/holders.ts'
import { endOf } from '../../values/days.ts'
import { highestThat } from '../../values/halving.ts'
import { t } from '../../words/words.ts'

/** Shows what a path showed at the end of a day. Revisions are as old as their numbers say, so it is found by halves. */
export const JumpToDay = ({
  repository,
  path,
  newest,
}: {
  readonly repository: string
  readonly path: string
  readonly newest: number
}) => {
  const navigate = useNavigate({ from: '/r/$repository/file/$' })
  const [day, setDay] = useState('')
  const go = async (wanted: string): Promise<void> => {
    setDay(wanted)
    const end = endOf(wanted)
    if (end === undefined) return
    try {
      const found = await highestThat(newest, async (revision) => {
        const { items } = await ask('listAssetHistory', {
          path: { repository },
          query: { path, before: revision + 1 },
        })
        const at = items[0]?.createdAt ?? null
        // What was forgotten was before everything that is known.
        return at === null || at < end
      })
      if (found === 0) tell(t('file.notYet'))
      else await navigate({ search: (before) => ({ ...before, rev: String(found), from: String(found), with: '' }) })
    } catch (error) {
      tellProblem(error)
    }
  }
  return <ExactFilter type="date" label={t('file.onDay')} value={day} change={(text) => void go(text)} />
}
