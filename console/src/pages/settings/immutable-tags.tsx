import { TagsInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isConflict } from '../../contract/problem.ts'
import { Changed } from '../../parts/changed.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Editable } from '../../parts/editable.tsx'
import { tell } from '../../parts/toasts.tsx'
import { Moment, Tag } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'

interface Of {
  readonly repository: string
}

/** Which tags of images stay where they were set. */
export const ImmutableTags = ({ repository }: Of) => {
  const read = useAsk('getImmutableTags', { path: { repository } })
  return (
    <Editable
      title={t('settings.immutable')}
      by="putImmutableTags"
      repository={repository}
      read={read}
      edit={(now, close) => <Edit repository={repository} base={now} close={close} />}
    >
      {(now) => (
        <>
          {now.patterns.length === 0 ? (
            <p className="muted">{t('settings.noneImmutable')}</p>
          ) : (
            <p className="line">
              {now.patterns.map((each) => (
                <Tag key={each} text={each} />
              ))}
            </p>
          )}
          {now.savedAt === null ? null : (
            <p className="muted small">
              {t('settings.saved')} <Moment at={now.savedAt} />
            </p>
          )}
        </>
      )}
    </Editable>
  )
}

const Edit = ({
  repository,
  base,
  close,
}: Of & { readonly base: Answer<'getImmutableTags'>; readonly close: () => void }) => {
  const [patterns, setPatterns] = useState<readonly string[]>(base.patterns)
  const [seen, setSeen] = useState(base)
  const [theirs, setTheirs] = useState(false)
  const read = useAsk('getImmutableTags', { path: { repository } })
  const put = useChange('putImmutableTags', ['getImmutableTags'])
  const save = async (): Promise<void> => {
    try {
      await put.mutateAsync({
        path: { repository },
        body: { expectedRevision: seen.revision, patterns: [...patterns] },
      })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isConflict(error)) return
      const { data } = await read.refetch()
      if (data === undefined) return
      setSeen(data)
      setTheirs(true)
    }
  }
  return (
    <FormDialog
      title={t('settings.immutable')}
      open
      close={close}
      submit={() => void save()}
      label={t('dialog.save')}
      busy={put.isPending}
      error={theirs ? null : put.error}
    >
      {theirs ? (
        <Changed>
          <p>{t('conflict.patterns', { patterns: seen.patterns.join(', ') || '–' })}</p>
        </Changed>
      ) : null}
      <TagsInput
        label={t('settings.patterns')}
        description={t('settings.patternsHow')}
        value={[...patterns]}
        onChange={setPatterns}
        data-autofocus
      />
    </FormDialog>
  )
}
