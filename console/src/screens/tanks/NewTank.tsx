import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import type { App, Chain, Tank } from '../../api/shapes.js'
import { accountOf, findWallets, wallets } from '../../api/wallets.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { Options } from '../../parts/Options.js'
import { toast } from '../../parts/toasts.js'
import { go, hrefOf } from '../../router.js'

type NewTankProps = {
  readonly apps: readonly App[]
  readonly chains: readonly Chain[]
  /** The app that is chosen first. */
  readonly appId: string | undefined
  onDone(): void
  onClose(): void
}

/** Makes a tank of an app: whose it is, where, and who alone can empty it. */
export function NewTank({ apps, chains, appId, onDone, onClose }: NewTankProps) {
  const chainId = useSignal(chains[0]?.chainId)
  const owner = useSignal('')
  useEffect(findWallets, [])
  const chain = chains.find((each) => each.chainId === chainId.value)
  const of = appId ?? apps[0]?.id ?? 'APP'
  return (
    <ActionDialog
      title="New tank"
      act="Create the tank"
      codes={[
        [
          'curl',
          curl(`/apps/${of}/tanks`, 'POST', {
            chainId: chainId.value,
            entryPoint: chain?.entryPoints[0]?.address,
            owner: owner.value || '0xOWNER',
          }),
        ],
        [
          'command',
          `purser tank create --app ${of} --chain ${chainId.value} --entry-point ${chain?.entryPoints[0]?.version} --owner ${owner.value || '0xOWNER'} --key env:PAYER`,
        ],
      ]}
      run={async (form) => {
        const app = String(form.get('app'))
        const body = {
          chainId: chainId.value,
          entryPoint: form.get('entryPoint'),
          owner: owner.value.trim(),
        }
        const { id } = await call<Tank>('POST', `/apps/${app}/tanks`, { body })
        onDone()
        go(hrefOf(`tanks/${app}/${id}`))
      }}
      onClose={onClose}
    >
      <Field label="App">
        <select name="app">
          <Options of={apps.map(({ id, name }) => [id, name])} first={of} />
        </select>
      </Field>
      <div class="field-row">
        <Field label="Chain">
          <select
            name="chain"
            value={chainId.value}
            onChange={(event) => {
              chainId.value = Number(event.currentTarget.value)
            }}
          >
            <Options of={chains.map((each) => [each.chainId, each.name])} />
          </select>
        </Field>
        <Field label="EntryPoint" hint="that of the accounts">
          <select name="entryPoint">
            <Options
              of={chain?.entryPoints.map(({ address, version }) => [address, `v${version}`]) ?? []}
            />
          </select>
        </Field>
      </div>
      <Field
        label="Owner"
        hint="Alone can withdraw, and cannot be changed. Purser holds no key of it."
      >
        <input
          name="owner"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="0x…"
          pattern="0x[0-9a-fA-F]{40}"
          title="An address: 0x and 40 hexadecimal digits"
          value={owner.value}
          onInput={(event) => {
            owner.value = event.currentTarget.value
          }}
        />
      </Field>
      {wallets.value.length > 0 && (
        <div class="actions">
          {wallets.value.map((wallet) => (
            <button
              key={wallet.id}
              type="button"
              onClick={() =>
                accountOf(wallet)
                  .then((address) => {
                    owner.value = address
                  })
                  .catch((error: Error) => toast(error.message))
              }
            >
              The account of {wallet.name}
            </button>
          ))}
        </div>
      )}
    </ActionDialog>
  )
}
