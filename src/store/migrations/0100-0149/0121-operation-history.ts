import { migration } from '../../migration.js'

/**
 * What became of an operation before its present state. A transition overwrites the row, so a trigger
 * keeps what the row forgets; the usual way (pooled, bundled, included) forgets nothing and writes nothing.
 */
export const operationHistory = migration([
  `create table operation_history (
    id bigint generated always as identity primary key,
    chain_id bigint not null,
    hash text not null,
    at timestamptz not null,
    kind text not null,
    bundle_id bigint,
    code text,
    reason text
  )`,
  'create index operation_history_hash on operation_history (chain_id, hash, id)',
  `create function remember_operation() returns trigger language plpgsql as $$
  begin
    if old.state in ('dropped', 'replaced') then
      insert into operation_history (chain_id, hash, at, kind, bundle_id, code, reason)
      values (old.chain_id, old.hash, old.updated_at, old.state, old.bundle_id, old.reason_code, old.reason);
      if new.state = 'pooled' then
        insert into operation_history (chain_id, hash, at, kind)
        values (old.chain_id, old.hash, now(), 'readmitted');
      end if;
    elsif old.state = 'included' then
      insert into operation_history (chain_id, hash, at, kind, bundle_id)
      values (old.chain_id, old.hash, now(), 'reorged', old.bundle_id);
    else
      insert into operation_history (chain_id, hash, at, kind, bundle_id)
      values (old.chain_id, old.hash, now(),
        case when new.attempts > old.attempts then 'suspected' else 'returned' end, old.bundle_id);
    end if;
    return null;
  end $$`,
  `create trigger operation_remembered after update on operations for each row
    when (old.state <> new.state and (old.state in ('dropped', 'replaced', 'included')
      or (old.state = 'bundled' and old.bundle_id is not null
        and (new.state <> 'included' or new.bundle_id is distinct from old.bundle_id))))
    execute function remember_operation()`,
  'create index operations_app_received on operations (app_id, received_at, hash)',
])
