import { MultiSelect, Select } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { type AdministrationAction, administrationActions } from '../../contract/generated.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { Dialog, FormDialog } from '../../parts/dialog.tsx'
import { Empty, Forbidden, Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import { BindingList, type Bindings, EditBindings } from './bindings.tsx'

interface Of {
  readonly id: string
  readonly name: string
}

/** Which service accounts a key may look after, and what it may give them at most. */
export const Delegations = ({ id, name, close }: Of & { readonly close: () => void }) => {
  const allowed = useMay()('listDelegations')
  const read = useAsk('listDelegations', { path: { id } }, { enabled: allowed.may })
  const end = useChange('deleteDelegation', ['listDelegations'])
  const again = useChange('putDelegation', ['listDelegations'])
  const [adding, setAdding] = useState(false)
  if (adding) return <Delegate id={id} name={name} close={() => setAdding(false)} />
  return (
    <Dialog title={t('delegation.of', { name })} open close={close} size="lg">
      <div className="form">
        <p className="muted">{t('delegation.lead')}</p>
        {allowed.may ? (
          <Shown of={read} rows={2}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty icon="key" title={t('delegation.none')} />
              ) : (
                <ul className="lines">
                  {items.map(({ accountId, accountName, actions, ceiling }) => (
                    <li key={accountId} className="panel">
                      <div className="spread">
                        <strong>{accountName ?? accountId}</strong>
                        <Act
                          by="deleteDelegation"
                          size="compact-xs"
                          label={t('delegation.end')}
                          run={() =>
                            end.mutate(
                              { path: { id, accountId } },
                              {
                                onError: tellProblem,
                                onSuccess: () =>
                                  tell(t('delegation.ended'), () =>
                                    again.mutateAsync({ path: { id, accountId }, body: { actions, ceiling } }),
                                  ),
                              },
                            )
                          }
                        />
                      </div>
                      <p>{actions.map((action) => said('action', action)).join(', ')}</p>
                      {ceiling.length === 0 ? null : (
                        <>
                          <p className="muted small">{t('delegation.ceiling')}</p>
                          <BindingList bindings={ceiling} />
                        </>
                      )}
                    </li>
                  ))}
                </ul>
              )
            }
          </Shown>
        ) : (
          <Forbidden missing={allowed} />
        )}
        {allowed.may ? (
          <div className="form-end">
            <Act by="putDelegation" icon="plus" label={t('delegation.add')} run={() => setAdding(true)} />
          </div>
        ) : null}
      </div>
    </Dialog>
  )
}

const Delegate = ({ id, name, close }: Of & { readonly close: () => void }) => {
  const accounts = useAsk('listServiceAccounts', {})
  const [accountId, setAccountId] = useState<string | null>(null)
  const [actions, setActions] = useState<AdministrationAction[]>(['service-account.read', 'credential.read'])
  const [ceiling, setCeiling] = useState<Bindings>([])
  const put = useChange('putDelegation', ['listDelegations'])
  const items = accounts.data?.items ?? []
  return (
    <FormDialog
      title={t('delegation.of', { name })}
      open
      close={close}
      submit={() =>
        put.mutate({ path: { id, accountId: accountId ?? '' }, body: { actions, ceiling } }, { onSuccess: close })
      }
      label={t('delegation.add')}
      busy={put.isPending}
      error={put.error}
      ready={accountId !== null && actions.length > 0}
      size="lg"
    >
      <Select
        label={t('delegation.account')}
        data={items.map((each) => ({ value: each.id, label: each.name }))}
        value={accountId}
        onChange={(next) => {
          setAccountId(next)
          setCeiling(items.find((each) => each.id === next)?.bindings ?? [])
        }}
        searchable
        data-autofocus
      />
      <MultiSelect
        label={t('delegation.may')}
        data={administrationActions.map((value) => ({ value, label: said('action', value) }))}
        value={actions}
        onChange={(next) => setActions(administrationActions.filter((each) => next.includes(each)))}
        searchable
      />
      {accountId === null ? null : (
        <>
          <p className="line muted">
            <Icon name="info" />
            {t('delegation.ceiling')}
          </p>
          <EditBindings bindings={ceiling} change={setCeiling} />
        </>
      )}
    </FormDialog>
  )
}
