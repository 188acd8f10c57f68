import { type ComponentProps, type ReactNode, useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { t } from '../words/words.ts'
import { Act } from './act.tsx'
import { Section } from './page.tsx'
import { Shown } from './states.tsx'

/** Something that is shown as it is now, and changed in a dialog by whoever may. */
export function Editable<Data>({
  title,
  by,
  repository,
  read,
  edit,
  children,
}: {
  readonly title: string
  /** What changes it. */
  readonly by: OperationId
  readonly repository: string
  readonly read: ComponentProps<typeof Shown<Data>>['of']
  /** The dialog, which begins with what is there. */
  readonly edit: (now: Data, close: () => void) => ReactNode
  readonly children: (now: Data) => ReactNode
}) {
  const [editing, setEditing] = useState(false)
  return (
    <Section
      title={title}
      actions={
        <Act
          by={by}
          on={repository}
          size="compact-sm"
          label={t('artifact.edit')}
          off={read.data === undefined}
          run={() => setEditing(true)}
        />
      }
    >
      <Shown of={read} rows={2}>
        {(now) => (
          <div className="panel">
            {children(now)}
            {editing ? edit(now, () => setEditing(false)) : null}
          </div>
        )}
      </Shown>
    </Section>
  )
}
