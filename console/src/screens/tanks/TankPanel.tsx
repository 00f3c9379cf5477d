import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { chainName, coinOf, coinWord } from '../../api/names.js'
import { useQuery } from '../../api/query.js'
import type { Fund, Page, Tank } from '../../api/shapes.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Age } from '../../parts/Age.js'
import { Amount } from '../../parts/Amount.js'
import { decimalOf, unitsOf } from '../../parts/amounts.js'
import { Fact, Facts } from '../../parts/Facts.js'
import { Field } from '../../parts/Field.js'
import { etherOf } from '../../parts/format.js'
import { Hex } from '../../parts/Hex.js'
import { Panel } from '../../parts/Panel.js'
import { useShown } from '../../parts/useOpen.js'
import { Deployment } from './Deployment.js'
import { Free, freeOf, Lasts } from './Level.js'
import { TransferDialog } from './TransferDialog.js'

type TankPanelProps = {
  readonly tank: Tank
  readonly appName: string
  readonly version: string
  onChanged(): void
  onClose(): void
}

/** One tank: what is in it, how long it lasts, and what its owner can do with it. */
export function TankPanel({ tank, appName, version, onChanged, onClose }: TankPanelProps) {
  const funds = useQuery<Page<Fund>>(`/apps/${tank.appId}/funds`)
  const dialog = useShown<'deposit' | 'withdraw' | 'alert'>()
  const { daily } = tank.runway ?? {}
  const free = freeOf(tank)
  const fund = funds.data?.items.find(({ chainId }) => chainId === tank.chainId)
  return (
    <Panel
      name="Tank"
      title={
        <>
          Tank of {appName} <Lasts tank={tank} />
        </>
      }
      codes={[
        ['curl', curl(`/apps/${tank.appId}/tanks/${tank.id}`)],
        [
          'Command',
          `purser tank deposit --app ${tank.appId} --chain ${tank.chainId} --entry-point ${tank.entryPoint} --kind ${tank.kind} --amount 0.5 --key env:KEY`,
        ],
      ]}
      onClose={onClose}
    >
      {tank.deposit === null || tank.locked === null ? (
        <p class="warn">
          This Purser does not serve chain {tank.chainId}: what is in the tank is not known.
        </p>
      ) : (
        <div class="level">
          <p>
            <strong>
              <Free tank={tank} />
            </strong>{' '}
            free of <Amount chainId={tank.chainId} wei={tank.deposit} />
          </p>
          <meter
            min={0}
            max={Math.max(1, Number(tank.deposit))}
            value={Number(free ?? 0n)}
            aria-label="Free part of the deposit"
          />
          <p class="muted">
            <Amount chainId={tank.chainId} wei={tank.locked} /> reserved for sponsorships that are
            signed
          </p>
        </div>
      )}
      <Deployment tank={tank} version={version} onDone={onChanged} />
      {tank.lowSince !== null && (
        <p class="warn">
          Low for <Age at={tank.lowSince} />: sponsorships are refused once it is empty.
        </p>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={() => dialog.show('deposit')}>
          Deposit…
        </button>
        <button type="button" onClick={() => dialog.show('withdraw')}>
          Withdraw…
        </button>
        <ActButton needs="admin" onClick={() => dialog.show('alert')}>
          Alert…
        </ActButton>
      </div>
      <section>
        <h3>Facts</h3>
        <Facts>
          <Fact name="Pace of the last week">
            {daily === undefined || daily === '0' ? (
              'nothing was spent'
            ) : (
              <>
                <Amount chainId={tank.chainId} wei={daily} /> a day
              </>
            )}
          </Fact>
          <Fact name="Chain, EntryPoint">
            {chainName(tank.chainId)}, {version}
          </Fact>
          <Fact name="Address">
            <Hex value={tank.address} what="the address of the tank" chainId={tank.chainId} />
          </Fact>
          <Fact name="Owner, who can withdraw">
            <Hex value={tank.owner} what="the owner" />
          </Fact>
          <Fact name="Alert">{alertText(tank)}</Fact>
          <Fact name="The app pays by">{fund?.mode ?? 'tank'}</Fact>
        </Facts>
      </section>
      {(dialog.shown === 'deposit' || dialog.shown === 'withdraw') && (
        <TransferDialog tank={tank} kind={dialog.shown} onDone={onChanged} onClose={dialog.hide} />
      )}
      {dialog.shown === 'alert' && (
        <AlertDialog tank={tank} onDone={onChanged} onClose={dialog.hide} />
      )}
    </Panel>
  )
}

function alertText({ chainId, alert: { wei, days } }: Tank): string {
  const bounds = [
    ...(wei === '0' ? [] : [`${etherOf(wei)} ${coinOf(chainId)}`]),
    ...(days === 0 ? [] : [`${days} days`]),
  ]
  return bounds.length === 0 ? 'off' : `below ${bounds.join(' or ')}`
}

type AlertProps = {
  readonly tank: Tank
  onDone(): void
  onClose(): void
}

function AlertDialog({ tank: { appId, chainId, alert }, onDone, onClose }: AlertProps) {
  const path = `/apps/${appId}/funds/${chainId}`
  return (
    <ActionDialog
      title={`Alert of the app on ${chainName(chainId)}`}
      act="Set it"
      codes={[['curl', curl(path, 'PATCH', { alertWei: '500000000000000000', alertDays: 3 })]]}
      run={async (form) => {
        const alertWei = unitsOf(String(form.get('ether')), 18)
        if (alertWei === undefined) throw new Error('The amount must be a number such as 0.5.')
        await call('PATCH', path, { body: { alertWei, alertDays: Number(form.get('days')) } })
        onDone()
      }}
      onClose={onClose}
    >
      <p>
        The event <code>tank.low</code> is sent, and the overview says so, once less is free. 0 =
        never.
      </p>
      <div class="field-row">
        <Field label={`Below, in ${coinWord(chainId)}`}>
          <input
            name="ether"
            inputMode="decimal"
            required
            defaultValue={decimalOf(alert.wei, 18)}
          />
        </Field>
        <Field label="Below, in days" hint="at the pace of the last week">
          <input
            name="days"
            type="number"
            min={0}
            max={3650}
            required
            defaultValue={String(alert.days)}
          />
        </Field>
      </div>
    </ActionDialog>
  )
}
