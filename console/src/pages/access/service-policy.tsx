import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isProblem } from '../../contract/problem.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { tell } from '../../parts/toasts.tsx'
import { said, t } from '../../words/words.ts'
import { Actions, chosenActions } from '../actions.tsx'

/** The account of a program. */
export type Account = Answer<'getServiceAccount'>

/** What it may, by repository. */
export type Bindings = Account['bindings']

const BindingList = ({ bindings }: { readonly bindings: Bindings }) => (
  <ul className="lines">
    {bindings.map(({ resource, actions }) => (
      <li key={resource.id} className="panel">
        <strong className="mono">{resource.id}</strong>
        <p>{actions.map((action) => said('action', action)).join(', ')}</p>
      </li>
    ))}
  </ul>
)

/** What a program may; two who change it at once are told of each other. */
export const Policy = ({ account }: { readonly account: Account }) => {
  const [open, setOpen] = useState(false)
  const [base, setBase] = useState(account)
  const [bindings, setBindings] = useState<Bindings>(account.bindings)
  const [added, setAdded] = useState('')
  const [clash, setClash] = useState(false)
  const put = useChange('putServicePolicy', ['getServiceAccount', 'listServiceAccounts'])
  const read = useAsk('getServiceAccount', { path: { id: account.id } })
  const submit = async (): Promise<void> => {
    try {
      await put.mutateAsync({
        path: { id: account.id },
        body: { expectedRevision: base.revision, bindings: bindings.filter(({ actions }) => actions.length > 0) },
      })
      setOpen(false)
      tell(t('artifact.saved'))
    } catch (error) {
      if (!isProblem(error) || error.code !== 'revision_mismatch') return
      const { data } = await read.refetch()
      if (data === undefined) return
      setBase(data)
      setClash(true)
    }
  }
  return (
    <Section
      title={t('services.policy')}
      actions={
        <Act
          by="putServicePolicy"
          size="compact-sm"
          label={t('artifact.edit')}
          run={() => {
            setBase(account)
            setBindings(account.bindings)
            setClash(false)
            setOpen(true)
          }}
        />
      }
    >
      <BindingList bindings={account.bindings} />
      <FormDialog
        title={t('services.policy')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit()}
        label={t('dialog.save')}
        busy={put.isPending}
        error={clash ? null : put.error}
      >
        {clash ? (
          <div className="band warn" role="alert">
            <Icon name="compare" />
            <div>
              <p className="strong">{t('conflict.title')}</p>
              <p>{t('conflict.theirs')}</p>
              <BindingList bindings={base.bindings} />
            </div>
          </div>
        ) : null}
        {bindings.map(({ resource, actions }) => (
          <div key={resource.id} className="panel">
            <strong className="mono">{resource.id}</strong>
            <Actions
              value={actions}
              change={(next) =>
                setBindings(
                  bindings.map((each) =>
                    each.resource.id === resource.id ? { resource, actions: chosenActions(next) } : each,
                  ),
                )
              }
            />
          </div>
        ))}
        <div className="filters">
          <TextInput
            className="grow"
            label={t('services.add')}
            value={added}
            onChange={(event) => setAdded(event.currentTarget.value)}
          />
          <Act
            by="putServicePolicy"
            label={t('services.addIt')}
            off={added === ''}
            run={() => {
              setBindings([...bindings, { resource: { kind: 'repository', id: added }, actions: ['repository.read'] }])
              setAdded('')
            }}
          />
        </div>
      </FormDialog>
    </Section>
  )
}
