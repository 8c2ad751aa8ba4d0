// Generated from the OpenAPI document: `npm run types`.
export interface components {
  schemas: {
    LogLine: {
      seq: number;
      /** Format: date-time */
      t: string | null;
      /** @enum {string} */
      stream: 'stdout' | 'stderr' | 'carillon' | 'output';
      line: string;
      partial?: boolean;
    };
    JobId: string;
    RunId: string;
    ExecutorId: string;
    Time: string;
    TimeOrNull: components['schemas']['Time'] | null;
    /** @enum {string} */
    Role: 'admin' | 'user' | 'read_only';
    UserName: string;
    Password: string;
    /** @enum {string} */
    JobState: 'ENABLED' | 'PAUSED';
    /** @enum {string} */
    RunState:
      | 'PENDING'
      | 'RUNNING'
      | 'HELD'
      | 'COMPLETED'
      | 'FAILED'
      | 'TIMED_OUT'
      | 'CANCELLED'
      | 'LOST'
      | 'SKIPPED';
    /** @enum {string} */
    DstGap: 'fire' | 'skip';
    /** @enum {string} */
    DstRepeat: 'auto' | 'both' | 'early' | 'late';
    ConfirmOverlap: boolean;
    VariableName: string;
    Labels: {
      [key: string]: string;
    };
    Parameters: {
      [key: string]: string | number | boolean;
    };
    ParameterRules: {
      [key: string]: components['schemas']['ParameterRule'];
    };
    ParameterRule: {
      /**
       * @default string
       * @enum {string}
       */
      type?: 'string' | 'integer' | 'number' | 'boolean';
      description?: string;
      choices?: (string | number | boolean)[];
      /** @default false */
      required?: boolean;
    };
    Reason: {
      reason?: string | null;
    };
    Cancel: {
      reason?: string | null;
      confirm_overlap?: components['schemas']['ConfirmOverlap'];
      mode?: components['schemas']['CancelModeAsked'];
    };
    CancelRun: {
      reason?: string | null;
      confirm_overlap?: components['schemas']['ConfirmOverlap'];
      mode?: components['schemas']['CancelModeAsked'];
      /** @default false */
      give_up?: boolean;
    };
    /**
     * @default graceful
     * @enum {string|null}
     */
    CancelModeAsked: 'graceful' | 'kill' | null;
    /** @enum {string|null} */
    CancelMode: 'graceful' | 'kill' | null;
    Page: {
      items: unknown[];
      next_page_token: string | null;
      total?: number;
      total_at_least?: number;
      /** Format: date-time */
      searched_to?: string;
    };
    Changes: {
      changes?: {
        topic: string;
        id?: string;
      }[];
    };
    /** @enum {string} */
    ImportKind: 'crontab' | 'cronjob' | 'systemd' | 'xxl-job';
    Imported: {
      jobs: unknown[];
      rows: components['schemas']['ImportedRow'][];
    };
    ImportedRow: {
      source: string;
      /** @enum {string} */
      verdict: 'mapped' | 'remarked' | 'refused';
      remarks: string[];
      job_id: string | null;
      expression: string | null;
      next: components['schemas']['Time'][];
    };
    FieldError: {
      pointer: string;
      code: string;
      detail: string;
    };
    Problem: {
      type: string;
      title: string;
      status: number;
      code: string;
      detail: string;
      instance: string;
      trace_id: string;
      errors: components['schemas']['FieldError'][];
    };
    StaleProblem: components['schemas']['Problem'] & {
      current_version?: number;
      current: Record<string, unknown> | null;
    };
    Schedule:
      | components['schemas']['CronSchedule']
      | components['schemas']['RateSchedule']
      | components['schemas']['OnceSchedule']
      | components['schemas']['DelaySchedule']
      | components['schemas']['AfterSchedule']
      | components['schemas']['EventSchedule'];
    ScheduleWrite:
      | components['schemas']['CronSchedule']
      | components['schemas']['RateSchedule']
      | components['schemas']['OnceSchedule']
      | components['schemas']['DelayedSchedule']
      | components['schemas']['DelaySchedule']
      | components['schemas']['AfterSchedule']
      | components['schemas']['EventSchedule'];
    CronSchedule: {
      /** @constant */
      kind: 'cron';
      cron_expression: string;
      time_zone?: string;
      /** Format: date-time */
      start_time?: string;
      /** Format: date-time */
      end_time?: string;
      jitter_s?: number;
      calendar?: string;
      blackout?: string;
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    CalendarDefinition: {
      time_zone: string;
      weekdays?: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
      dates?: string[];
      except?: string[];
      intervals?: string[];
    };
    Calendar: {
      name: string;
      version: number;
      definition: components['schemas']['CalendarDefinition'] | null;
      /** Format: date-time */
      effective_time: string;
      jobs: number;
    };
    RateSchedule: {
      /** @constant */
      kind: 'rate';
      every_ms: number;
      /** Format: date-time */
      start_time?: string;
      /** Format: date-time */
      end_time?: string;
      jitter_s?: number;
      calendar?: string;
      blackout?: string;
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    DelaySchedule: {
      /** @constant */
      kind: 'delay';
      every_ms: number;
      /** Format: date-time */
      start_time?: string;
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    AfterSchedule: {
      /** @constant */
      kind: 'after';
      job: components['schemas']['JobId'];
      /**
       * @default success
       * @enum {string}
       */
      on?: 'success' | 'failure' | 'done';
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    EventSchedule: {
      /** @constant */
      kind: 'event';
      type: string;
      source?: string;
      filter?: string;
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    Event: {
      id: string;
      source: string;
      type: string;
      subject?: string | null;
      data?: unknown;
    };
    EventOrigin: {
      id: string;
      source: string;
      type: string;
      subject: string;
    };
    EventStart: {
      job_id: components['schemas']['JobId'];
      schedule_id: number;
      run_id: string | null;
      gap: components['schemas']['GapReason'] | null;
      problem: string | null;
    };
    EventEffect: {
      id: string;
      source: string;
      /** @enum {string} */
      status: 'started' | 'duplicate' | 'no_match' | 'gap';
      starts: components['schemas']['EventStart'][];
    };
    EventVerdict: {
      job_id: string | null;
      schedule_id: number | null;
      /** @enum {string} */
      result: 'matched' | 'no_match' | 'not_computable' | 'bad_event';
      sentence: string;
      parameters: components['schemas']['Parameters'];
      untrusted: string[];
    };
    EventRecord: {
      namespace: components['schemas']['Namespace'];
      id: string;
      source: string;
      type: string | null;
      subject: string | null;
      accepted_at: components['schemas']['Time'];
      /** @enum {string} */
      outcome: 'started' | 'gap' | 'refused';
      starts: components['schemas']['EventStart'][];
      problem: string | null;
    };
    JobDependencies: {
      upstream: components['schemas']['JobDependency'][];
      downstream: components['schemas']['JobDependency'][];
      hidden: number;
    };
    JobDependency: {
      job_id: components['schemas']['JobId'];
      job_name: string;
      /** @enum {string} */
      kind: 'after' | 'node' | 'waits';
      /** @enum {string|null} */
      on: 'success' | 'failure' | 'done' | null;
      /** @constant */
      deleted?: true;
    };
    /** @enum {string} */
    JobType: 'shell' | 'script' | 'http' | 'handler' | 'container' | 'noop' | 'workflow';
    HttpRequest: {
      /**
       * @default GET
       * @enum {string}
       */
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
      url: string;
      headers?: {
        [key: string]: string;
      };
      /** @default  */
      body?: string;
      expect?: {
        /**
         * @default [
         *       "2xx"
         *     ]
         */
        status?: string[];
        /** @default  */
        contains?: string;
        /** @default  */
        regex?: string;
        json?: {
          [key: string]: components['schemas']['ExpectedValue'];
        };
      };
      /** @default 0 */
      follow?: number;
      /** @default 10 */
      connect_timeout?: number;
      /** @default true */
      tls_verify?: boolean;
      /** @default  */
      client_certificate?: string;
      poll?: components['schemas']['HttpPoll'];
    };
    HttpPoll: {
      /** @default  */
      url?: string;
      /** @default  */
      url_at?: string;
      /** @default 10 */
      interval?: number;
      until?: {
        [key: string]: components['schemas']['ExpectedValue'][];
      };
    };
    ExpectedValue: string | number | boolean | null;
    HttpStatus: number | null;
    Script: {
      /** @enum {string} */
      interpreter: 'sh' | 'bash' | 'python3' | 'perl' | 'node' | 'php' | 'pwsh';
      body: string;
      args?: string[];
    };
    Container: {
      image: string;
      command?: string[];
      args?: string[];
      /**
       * @default bridge
       * @enum {string}
       */
      network?: 'bridge' | 'none';
      /** @default false */
      read_only?: boolean;
      user?: string;
      /**
       * @default missing
       * @enum {string}
       */
      pull?: 'missing' | 'always' | 'never';
    };
    Limits: {
      memory_mb?: number | null;
      cpu?: number | null;
      pids?: number | null;
      open_files?: number | null;
      file_size_mb?: number | null;
      /**
       * @default required
       * @enum {string|null}
       */
      enforce?: 'required' | 'best_effort' | null;
    };
    LimitsNotEnforced: ('memory_mb' | 'cpu' | 'pids')[];
    ResourceUsage: {
      cpu_us: number;
      memory_bytes: number;
      read_bytes: number;
      written_bytes: number;
    } | null;
    RetryConditions: string[];
    NodeId: string;
    /** @enum {string} */
    EdgeOn: 'success' | 'failure' | 'done';
    TriggerRule:
      | ('all' | 'any')
      | number
      | {
          succeeded: 'all' | number;
        };
    /** @enum {string} */
    NodeKind: 'job' | 'task' | 'approval' | 'wait';
    Task: {
      /**
       * @default shell
       * @enum {string}
       */
      type?: 'shell' | 'noop' | 'script' | 'http' | 'handler' | 'container';
      command?: string;
      script?: components['schemas']['Script'];
      http?: components['schemas']['HttpRequest'];
      handler?: string;
      container?: components['schemas']['Container'];
      timeout?: number;
      retry_count?: number;
      retry_interval?: number;
      /** @enum {string} */
      retry_backoff?: 'fixed' | 'exponential';
      retry_intervals?: number[];
      retry_on?: components['schemas']['RetryConditions'];
      no_retry_on?: components['schemas']['RetryConditions'];
      /** @enum {string} */
      on_lost?: 'retry' | 'fail' | 'hold';
      priority?: number;
      executor_id?: string;
      executor_selector?: string;
      concurrency_group?: string;
      presume_dead_s?: number;
      kill_grace?: number;
      /** @enum {string} */
      routing?: 'round_robin' | 'random' | 'least_loaded' | 'first_healthy' | 'weighted' | 'consistent_hash';
      routing_key?: string;
      env?: {
        [key: string]: string;
      };
      limits?: components['schemas']['Limits'];
      run_as?: string;
      working_directory?: string;
      output_encoding?: string;
    };
    Approval: {
      message?: string;
      timeout_s?: number;
      /**
       * @default refuse
       * @enum {string}
       */
      on_timeout?: 'refuse' | 'approve';
      by?: string[];
    };
    NodeWait: {
      until?: string;
      day?: number;
      for_s?: number;
    };
    Workflow: {
      /** @default 32 */
      max_parallel?: number;
      nodes: components['schemas']['WorkflowNode'][];
      /** @default 3600 */
      finally_timeout?: number;
      outputs?: {
        [key: string]: string;
      };
    };
    WorkflowNode: {
      id: components['schemas']['NodeId'];
      job?: components['schemas']['JobId'];
      task?: string | components['schemas']['Task'];
      approval?: components['schemas']['Approval'];
      wait?: components['schemas']['NodeWait'];
      /** @default false */
      finally?: boolean;
      over?: string;
      as?: string;
      collect?: string;
      timeout?: number;
      retry_count?: number;
      retry_interval?: number;
      /** @enum {string} */
      retry_backoff?: 'fixed' | 'exponential';
      retry_intervals?: number[];
      retry_on?: components['schemas']['RetryConditions'];
      no_retry_on?: components['schemas']['RetryConditions'];
      /** @enum {string} */
      on_lost?: 'retry' | 'fail' | 'hold';
      priority?: number;
      executor_id?: string;
      executor_selector?: string;
      concurrency_group?: string;
      parameters?: components['schemas']['Parameters'];
      after?: (
        | components['schemas']['NodeId']
        | {
            node: components['schemas']['NodeId'];
            /** @default success */
            on?: components['schemas']['EdgeOn'];
            if?: string;
            /** @default false */
            recovers?: boolean;
          }
      )[];
      /** @default all */
      trigger_rule?: components['schemas']['TriggerRule'];
      /** @default false */
      allow_failure?: boolean;
    };
    WorkflowProblem: {
      /** @enum {string} */
      code:
        | 'bad_field'
        | 'limit'
        | 'duplicate_node'
        | 'duplicate_edge'
        | 'unknown_node'
        | 'cycle'
        | 'not_upstream'
        | 'bad_trigger_rule'
        | 'bad_condition'
        | 'bad_template'
        | 'never_starts'
        | 'unknown_job'
        | 'forbidden'
        | 'unsafe_parameter'
        | 'too_deep';
      pointer: string;
      message: string;
    };
    JobGraph: {
      job_id: components['schemas']['JobId'];
      version: number;
      max_parallel: number;
      nodes: {
        id: components['schemas']['NodeId'];
        kind: components['schemas']['NodeKind'];
        job_id: components['schemas']['JobId'] | null;
        job_name: string | null;
        job_type: components['schemas']['JobType'] | null;
        job_state: components['schemas']['JobState'] | null;
        after: {
          node: components['schemas']['NodeId'];
          on: components['schemas']['EdgeOn'];
          if: string | null;
          recovers: boolean;
        }[];
        trigger_rule: components['schemas']['TriggerRule'];
        allow_failure: boolean;
        finally: boolean;
        parameters: components['schemas']['Parameters'];
        task: components['schemas']['Task'] | null;
        approval: components['schemas']['Approval'] | null;
        wait: components['schemas']['NodeWait'] | null;
        rules: {
          timeout?: number;
          retry_count?: number;
          retry_interval?: number;
          /** @enum {string} */
          retry_backoff?: 'fixed' | 'exponential';
          retry_intervals?: number[];
          retry_on?: components['schemas']['RetryConditions'];
          no_retry_on?: components['schemas']['RetryConditions'];
          /** @enum {string} */
          on_lost?: 'retry' | 'fail' | 'hold';
          priority?: number;
          executor_id?: string;
          executor_selector?: string;
          concurrency_group?: string;
        };
        over: string | null;
        as: string | null;
        collect: string | null;
      }[];
    };
    RunTrigger: {
      run_id: components['schemas']['RunId'];
      job_id: components['schemas']['JobId'];
      job_name: string | null;
      /** @enum {string} */
      state: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'LOST';
      fire_time: components['schemas']['Time'];
    };
    OnceSchedule: {
      /** @constant */
      kind: 'once';
      /** Format: date-time */
      at: string;
      parameters?: components['schemas']['Parameters'];
      schedule_id?: number;
    };
    DelayedSchedule: {
      /** @constant */
      kind: 'once';
      in_s: number;
      parameters?: components['schemas']['Parameters'];
    };
    Fire: {
      schedule: number;
      fire_time: components['schemas']['Time'];
      /** Format: date-time */
      local_time: string;
      utc_offset: string;
      time_zone: string;
      /** @enum {string|null} */
      dst: 'moved_by_gap' | 'repeated' | null;
    };
    SkippedFire: {
      schedule: number;
      fire_time: components['schemas']['Time'];
      /** Format: date-time */
      local_time: string;
      utc_offset: string;
      time_zone: string;
      /** @enum {string} */
      dst: 'skipped_by_gap' | 'not_repeated';
    };
    ScheduleWarning: {
      schedule?: number;
      node?: string;
      code: string;
      detail: string;
    };
    FireBucket: {
      start: components['schemas']['Time'];
      fires: number;
    };
    FireLoad: {
      from: components['schemas']['Time'];
      until: components['schemas']['Time'];
      buckets: components['schemas']['FireBucket'][];
      busiest: components['schemas']['FireBucket'] | null;
      jobs: number;
      jobs_read: number;
      truncated: boolean;
      items?: {
        job_id: string;
        name: string;
        fires: number;
        first_fire_time: components['schemas']['Time'];
        buckets: components['schemas']['FireBucket'][];
      }[];
    };
    Shards: {
      total: number | 'alive' | string;
      max?: number;
    };
    UpstreamWait: {
      job: components['schemas']['JobId'];
      in?: components['schemas']['JobId'];
      /**
       * @default success
       * @enum {string}
       */
      on?: 'success' | 'done';
      window: {
        day?: number;
        back_s?: number;
        ahead_s?: number;
      };
      /**
       * @default last
       * @enum {string}
       */
      which?: 'last' | 'all';
    };
    Broadcast: {
      /** @default 60 */
      wait_s?: number;
    };
    JobWrite: {
      name: string;
      /** @default shell */
      type?: components['schemas']['JobType'];
      script?: components['schemas']['Script'] | null;
      http?: components['schemas']['HttpRequest'] | null;
      handler?: string;
      container?: components['schemas']['Container'] | null;
      workflow?: components['schemas']['Workflow'] | null;
      limits?: components['schemas']['Limits'] | null;
      run_as?: string;
      working_directory?: string;
      output_encoding?: string;
      command?: string;
      cron_expression?: string | null;
      schedules?: components['schemas']['ScheduleWrite'][];
      /** @default UTC */
      time_zone?: string;
      /** @default true */
      enabled?: boolean;
      /** @default 3600 */
      timeout?: number;
      /** @default 10 */
      kill_grace?: number;
      /** @default 0 */
      queue_timeout?: number;
      /** @default 0 */
      retry_count?: number;
      /** @default 60 */
      retry_interval?: number;
      /**
       * @default fixed
       * @enum {string}
       */
      retry_backoff?: 'fixed' | 'exponential';
      retry_intervals?: number[];
      retry_on?: components['schemas']['RetryConditions'];
      no_retry_on?: components['schemas']['RetryConditions'];
      /**
       * @default retry
       * @enum {string}
       */
      on_lost?: 'retry' | 'fail' | 'hold';
      /** @default 0 */
      presume_dead_s?: number;
      /** @default 0 */
      pause_after_failures?: number;
      /** @default 0 */
      priority?: number;
      /**
       * @default latest
       * @enum {string}
       */
      misfire_policy?: 'skip' | 'latest' | 'all';
      /** @default 60 */
      misfire_grace?: number;
      /** @default 3600 */
      catch_up_window?: number;
      /** @default 100 */
      catch_up_max?: number;
      /**
       * @default allow
       * @enum {string}
       */
      overlap_policy?:
        'allow' | 'skip' | 'queue_one' | 'queue_all' | 'cancel_previous' | 'terminate_previous';
      /** @default 1 */
      max_running?: number;
      /** @default 100 */
      queue_max?: number;
      waits_for?: components['schemas']['UpstreamWait'][];
      wait_limit_s?: number;
      /** @default  */
      concurrency_group?: string;
      dst_gap?: components['schemas']['DstGap'];
      dst_repeat?: components['schemas']['DstRepeat'];
      /**
       * @default round_robin
       * @enum {string}
       */
      routing?: 'round_robin' | 'random' | 'least_loaded' | 'first_healthy' | 'weighted' | 'consistent_hash';
      routing_key?: string;
      shards?: components['schemas']['Shards'];
      broadcast?: components['schemas']['Broadcast'];
      executor_id?: string;
      executor_selector?: string;
      parameters?: components['schemas']['Parameters'];
      parameter_rules?: components['schemas']['ParameterRules'];
      env?: {
        [key: string]: string;
      };
      labels?: components['schemas']['Labels'];
      /** @default 0 */
      retention_days?: number;
      notify?: components['schemas']['Notify'];
      description?: string;
      user_id?: string;
      /** @default default */
      namespace?: components['schemas']['Namespace'];
      job_id?: components['schemas']['JobId'];
      version?: unknown;
      state?: unknown;
      pause_reason?: unknown;
      paused_by?: unknown;
      next_fire_time?: unknown;
      schedule_problem?: unknown;
      problem?: unknown;
      create_time?: unknown;
      update_time?: unknown;
      allowed_actions?: unknown;
      warnings?: unknown;
    };
    Namespace: string;
    Shares: {
      namespace: string;
      selector?: string;
    }[];
    Notify: {
      on?: components['schemas']['JobNoticeKind'][];
      late_after_s?: number;
      mail_to?: string[];
    };
    Job: {
      name: string;
      /** @default shell */
      type: components['schemas']['JobType'];
      script?: components['schemas']['Script'] | null;
      http?: components['schemas']['HttpRequest'] | null;
      handler?: string;
      container?: components['schemas']['Container'] | null;
      workflow?: components['schemas']['Workflow'] | null;
      limits?: components['schemas']['Limits'] | null;
      run_as?: string;
      working_directory?: string;
      output_encoding?: string;
      command: string;
      cron_expression: string | null;
      schedules: components['schemas']['Schedule'][];
      /** @default UTC */
      time_zone: string;
      /** @default true */
      enabled: boolean;
      /** @default 3600 */
      timeout: number;
      /** @default 10 */
      kill_grace: number;
      /** @default 0 */
      queue_timeout: number;
      /** @default 0 */
      retry_count: number;
      /** @default 60 */
      retry_interval: number;
      /**
       * @default fixed
       * @enum {string}
       */
      retry_backoff: 'fixed' | 'exponential';
      retry_intervals: number[];
      retry_on: components['schemas']['RetryConditions'];
      no_retry_on: components['schemas']['RetryConditions'];
      /**
       * @default retry
       * @enum {string}
       */
      on_lost: 'retry' | 'fail' | 'hold';
      /** @default 0 */
      presume_dead_s?: number;
      /** @default 0 */
      pause_after_failures?: number;
      /** @default 0 */
      priority: number;
      /**
       * @default latest
       * @enum {string}
       */
      misfire_policy: 'skip' | 'latest' | 'all';
      /** @default 60 */
      misfire_grace: number;
      /** @default 3600 */
      catch_up_window: number;
      /** @default 100 */
      catch_up_max: number;
      /**
       * @default allow
       * @enum {string}
       */
      overlap_policy: 'allow' | 'skip' | 'queue_one' | 'queue_all' | 'cancel_previous' | 'terminate_previous';
      /** @default 1 */
      max_running: number;
      /** @default 100 */
      queue_max: number;
      waits_for?: components['schemas']['UpstreamWait'][];
      wait_limit_s?: number;
      /** @default  */
      concurrency_group: string;
      dst_gap: components['schemas']['DstGap'];
      dst_repeat: components['schemas']['DstRepeat'];
      /**
       * @default round_robin
       * @enum {string}
       */
      routing: 'round_robin' | 'random' | 'least_loaded' | 'first_healthy' | 'weighted' | 'consistent_hash';
      routing_key?: string;
      shards?: components['schemas']['Shards'];
      broadcast?: components['schemas']['Broadcast'];
      executor_id: string;
      executor_selector: string;
      parameters: components['schemas']['Parameters'];
      parameter_rules: components['schemas']['ParameterRules'];
      env: {
        [key: string]: string;
      };
      labels: components['schemas']['Labels'];
      /** @default 0 */
      retention_days: number;
      notify: components['schemas']['Notify'];
      description: string;
      user_id: string;
      /** @default default */
      namespace: components['schemas']['Namespace'];
      job_id: components['schemas']['JobId'];
      version: number;
      state: components['schemas']['JobState'];
      pause_reason: string | null;
      /** @enum {string} */
      paused_by?: 'failures';
      next_fire_time: components['schemas']['TimeOrNull'];
      schedule_problem?: string;
      warnings?: components['schemas']['ScheduleWarning'][];
      create_time: components['schemas']['Time'];
      update_time: components['schemas']['Time'];
      allowed_actions: (
        'backfill' | 'cancel' | 'delete' | 'edit' | 'execute' | 'pause' | 'resume' | 'revert'
      )[];
    };
    UnreadableJob: {
      job_id: components['schemas']['JobId'];
      name: string;
      type: string;
      user_id: string;
      namespace: components['schemas']['Namespace'];
      version: number;
      state: components['schemas']['JobState'];
      pause_reason: string | null;
      problem: string;
      create_time: components['schemas']['Time'];
      update_time: components['schemas']['Time'];
      allowed_actions: (
        'backfill' | 'cancel' | 'delete' | 'edit' | 'execute' | 'pause' | 'resume' | 'revert'
      )[];
    };
    Change: {
      field: string;
      before: unknown;
      after: unknown;
    };
    FieldChange: {
      path: string;
      from: unknown;
      to: unknown;
    };
    Applied: {
      dry_run: boolean;
      items: components['schemas']['AppliedItem'][];
      counts: {
        [key: string]: number;
      };
      prune_complete: boolean | null;
    };
    AppliedItem: {
      index: number | null;
      job_id: string | null;
      name: string | null;
      /** @enum {string} */
      result: 'created' | 'updated' | 'unchanged' | 'pruned' | 'error';
      version: number | null;
      changes: components['schemas']['FieldChange'][] | null;
      warnings?: components['schemas']['ScheduleWarning'][];
      error: null | components['schemas']['Problem'];
    };
    Bulk: {
      action: string;
      /** @enum {string} */
      kind: 'job' | 'run' | 'dead_letter';
      dry_run: boolean;
      total: number;
      more: boolean;
      done: number;
      failed: number;
      items: {
        id: string;
        /** @enum {string} */
        result: 'done' | 'would' | 'error';
        run_id: string | null;
        error: null | components['schemas']['Problem'];
      }[];
    };
    /** @enum {string} */
    BackfillState: 'RUNNING' | 'PAUSED' | 'COMPLETED' | 'CANCELLED' | 'STOPPED';
    BackfillPreview: {
      job_id: components['schemas']['JobId'];
      schedule_id: number;
      from: components['schemas']['Time'];
      to: components['schemas']['Time'];
      /** @enum {string} */
      order: 'ascending' | 'descending';
      /** @enum {string} */
      rerun: 'none' | 'failed' | 'all';
      concurrency: number;
      priority: number | null;
      parameters: components['schemas']['Parameters'];
      fires: number;
      to_run: number;
      existing: number;
      refused: number;
      fires_max: number;
      first_fires: components['schemas']['Time'][];
    };
    Backfill: {
      backfill_id: number;
      job_id: components['schemas']['JobId'];
      schedule_id: number;
      from: components['schemas']['Time'];
      to: components['schemas']['Time'];
      /** @enum {string} */
      order: 'ascending' | 'descending';
      /** @enum {string} */
      rerun: 'none' | 'failed' | 'all';
      concurrency: number;
      priority: number | null;
      parameters: components['schemas']['Parameters'];
      state: components['schemas']['BackfillState'];
      fires: number;
      done: number;
      created: number;
      run_again: number;
      existing: number;
      refused: number;
      succeeded: number;
      failed: number;
      running: number;
      cursor_time: components['schemas']['Time'];
      error: string | null;
      actor: string;
      create_time: components['schemas']['Time'];
      end_time: components['schemas']['TimeOrNull'];
      allowed_actions: ('cancel' | 'pause' | 'resume')[];
    };
    /** @enum {string} */
    BulkState: 'RUNNING' | 'DONE' | 'CANCELLED' | 'STOPPED';
    /** @enum {string} */
    BulkResult: 'pending' | 'done' | 'error' | 'skipped';
    BulkAction: {
      bulk_id: string;
      /** @enum {string} */
      action: 'run' | 'pause' | 'resume' | 'cancel' | 'release' | 'retry' | 'discard' | 'delete';
      /** @enum {string} */
      kind: 'job' | 'run' | 'dead_letter';
      state: components['schemas']['BulkState'];
      reason: string;
      confirm_overlap: boolean;
      mode: components['schemas']['CancelMode'];
      total: number;
      done: number;
      failed: number;
      skipped: number;
      actor: string;
      user_id: string;
      error: string | null;
      create_time: components['schemas']['Time'];
      update_time: components['schemas']['Time'];
      end_time: components['schemas']['TimeOrNull'];
      allowed_actions: 'cancel'[];
    };
    BulkItem: {
      position: number;
      id: string;
      result: components['schemas']['BulkResult'];
      run_id: string | null;
      error: null | components['schemas']['Problem'];
    };
    JobVersion: {
      version: number;
      actor: string;
      create_time: components['schemas']['Time'];
      readable: boolean;
      changes: components['schemas']['Change'][] | null;
    };
    JobVersionDetail: {
      version: number;
      actor: string;
      create_time: components['schemas']['Time'];
      readable: boolean;
      changes: components['schemas']['Change'][] | null;
      job_id: components['schemas']['JobId'];
      definition: Record<string, unknown> | null;
    };
    RecentRun: {
      run_id: components['schemas']['RunId'];
      state: components['schemas']['RunState'];
      fire_time: components['schemas']['Time'];
      started_at: components['schemas']['TimeOrNull'];
      ended_at: components['schemas']['TimeOrNull'];
    };
    Run: {
      run_id: components['schemas']['RunId'];
      job_id: components['schemas']['JobId'];
      job_name: string;
      schedule_id: number;
      /** @enum {string} */
      kind:
        'cron' | 'rate' | 'once' | 'manual' | 'delay' | 'backfill' | 'after' | 'workflow' | 'shard' | 'event';
      fire_time: components['schemas']['Time'];
      shard: number;
      state: components['schemas']['RunState'];
      reason: string | null;
      attempt: number;
      executor_id: string | null;
      planned_at: components['schemas']['TimeOrNull'];
      claimed_at: components['schemas']['TimeOrNull'];
      started_at: components['schemas']['TimeOrNull'];
      ended_at: components['schemas']['TimeOrNull'];
      due_at: components['schemas']['TimeOrNull'];
      exit_code: number | null;
      output: string;
      output_truncated: boolean;
      usage?: components['schemas']['ResourceUsage'];
      limits_not_enforced?: components['schemas']['LimitsNotEnforced'];
      http_status?: components['schemas']['HttpStatus'];
      error: string | null;
      priority: number;
      job_version: number;
      cancel_requested: boolean;
      cancel_mode: components['schemas']['CancelMode'];
      trace_id: string;
      parameters: components['schemas']['Parameters'];
      job_type?: components['schemas']['JobType'];
      workflow_run_id?: string | null;
      node?: string | null;
      shard_index?: number;
      shard_total?: number;
      fan_out_run_id?: components['schemas']['RunId'];
      shards?: {
        [key: string]: number;
      };
      event?: components['schemas']['EventOrigin'];
      /** @constant */
      kept?: true;
    };
    RunShards: {
      run_id: components['schemas']['RunId'];
      job_id: components['schemas']['JobId'];
      state: components['schemas']['RunState'];
      shard_total: number;
      shards: components['schemas']['RunShard'][];
    };
    RunShard: {
      index: number;
      run_id: components['schemas']['RunId'];
      state: components['schemas']['RunState'];
      reason: string | null;
      attempt: number;
      executor_id: string | null;
      due_at: components['schemas']['TimeOrNull'];
      claimed_at: components['schemas']['TimeOrNull'];
      started_at: components['schemas']['TimeOrNull'];
      ended_at: components['schemas']['TimeOrNull'];
    };
    RunNodes: {
      run_id: components['schemas']['RunId'];
      job_id: components['schemas']['JobId'];
      job_version: number;
      state: components['schemas']['RunState'];
      deadline: components['schemas']['TimeOrNull'];
      max_parallel: number;
      nodes: components['schemas']['RunNode'][];
    };
    RunNode: {
      id: components['schemas']['NodeId'];
      kind: components['schemas']['NodeKind'];
      job_id: components['schemas']['JobId'] | null;
      job_name: string | null;
      job_type: components['schemas']['JobType'] | null;
      until: components['schemas']['TimeOrNull'];
      message: string | null;
      decision: null | {
        /** @enum {string} */
        decision: 'approved' | 'refused' | 'timeout';
        by: string | null;
        reason: string | null;
        at: components['schemas']['TimeOrNull'];
      };
      items: number | null;
      finally: boolean;
      run_id: components['schemas']['RunId'];
      state: components['schemas']['RunState'];
      blocked: boolean;
      awaiting: boolean;
      reason: string | null;
      error: string | null;
      attempt: number;
      started_at: components['schemas']['TimeOrNull'];
      ended_at: components['schemas']['TimeOrNull'];
      exit_code: number | null;
      executor_id: string | null;
      trigger_rule: components['schemas']['TriggerRule'];
      allow_failure: boolean;
      failure: boolean;
      repaired: boolean;
      allowed_actions: ('decide' | 'release' | 'retry' | 'skip')[];
      after: {
        node: components['schemas']['NodeId'];
        on: components['schemas']['EdgeOn'];
        if: string | null;
        recovers: boolean;
        /** @enum {string} */
        verdict: 'open' | 'met' | 'failed' | 'ignored' | 'broken';
      }[];
    };
    RunDetail: {
      run_id: components['schemas']['RunId'];
      job_id?: components['schemas']['JobId'];
      job_name?: string;
      schedule_id?: number;
      /** @enum {string} */
      kind?:
        'cron' | 'rate' | 'once' | 'manual' | 'delay' | 'backfill' | 'after' | 'workflow' | 'shard' | 'event';
      fire_time?: components['schemas']['Time'];
      shard?: number;
      state: components['schemas']['RunState'];
      reason?: string | null;
      attempt?: number;
      executor_id?: string | null;
      planned_at?: components['schemas']['TimeOrNull'];
      claimed_at?: components['schemas']['TimeOrNull'];
      started_at?: components['schemas']['TimeOrNull'];
      ended_at?: components['schemas']['TimeOrNull'];
      due_at?: components['schemas']['TimeOrNull'];
      exit_code?: number | null;
      output?: string;
      output_truncated?: boolean;
      usage?: components['schemas']['ResourceUsage'];
      limits_not_enforced?: components['schemas']['LimitsNotEnforced'];
      http_status?: components['schemas']['HttpStatus'];
      error?: string | null;
      priority?: number;
      job_version?: number;
      cancel_requested?: boolean;
      cancel_mode?: components['schemas']['CancelMode'];
      trace_id?: string;
      parameters?: components['schemas']['Parameters'];
      job_type?: components['schemas']['JobType'];
      workflow_run_id?: string | null;
      node?: string | null;
      shard_index?: number;
      shard_total?: number;
      fan_out_run_id?: components['schemas']['RunId'];
      shards?: {
        [key: string]: number;
      };
      event?: components['schemas']['EventOrigin'];
      /** @constant */
      kept?: true;
      attempts: components['schemas']['Attempt'][];
      trigger?: components['schemas']['RunTrigger'] | null;
      outputs: {
        [key: string]: string;
      };
      progress?: null | {
        percent: number | null;
        text: string;
        at: components['schemas']['Time'];
      };
      checkpoint?: null | {
        size: number;
        attempt: number;
        saved_at: components['schemas']['Time'];
      };
      allowed_actions: ('cancel' | 'decide' | 'execute' | 'give_up' | 'release' | 'retry' | 'skip')[];
      waiting?: null | {
        /** @enum {string} */
        code:
          | 'paused'
          | 'not_due'
          | 'cluster_paused'
          | 'upstream_run'
          | 'upstream'
          | 'approval'
          | 'time'
          | 'slot'
          | 'group'
          | 'unreadable'
          | 'no_executor'
          | 'pinned_unknown'
          | 'no_match'
          | 'no_feature'
          | 'no_handler'
          | 'away'
          | 'no_room'
          | 'queued'
          | 'host';
        detail: string;
        position?: number;
        group?: string;
        length?: number;
        since?: components['schemas']['Time'];
      };
    } & Record<string, unknown>;
    JobQueue: {
      /** @enum {string} */
      overlap_policy: 'allow' | 'skip' | 'queue_one' | 'queue_all' | 'cancel_previous' | 'terminate_previous';
      max_running: number;
      queue_max: number;
      length: number;
      holders: components['schemas']['Run'][];
      queued: components['schemas']['Run'][];
    };
    Attempt: {
      attempt: number;
      state: components['schemas']['RunState'];
      executor_id: string | null;
      claimed_at: components['schemas']['TimeOrNull'];
      started_at: components['schemas']['TimeOrNull'];
      ended_at: components['schemas']['TimeOrNull'];
      reason: string | null;
      exit_code: number | null;
      output: string;
      output_truncated: boolean;
      usage?: components['schemas']['ResourceUsage'];
      limits_not_enforced?: components['schemas']['LimitsNotEnforced'];
      http_status?: components['schemas']['HttpStatus'];
      error: string | null;
    };
    Gap: {
      schedule_id: number;
      job_id: components['schemas']['JobId'];
      from: components['schemas']['Time'];
      to: components['schemas']['Time'];
      count: number;
      reason: components['schemas']['GapReason'];
    };
    /** @enum {string} */
    GapReason: 'misfire' | 'paused' | 'catch_up_limit' | 'edited' | 'deleted' | 'bad_event';
    DeadLetter: {
      id: string;
      run_id: components['schemas']['RunId'];
      job_id: components['schemas']['JobId'];
      state: components['schemas']['RunState'];
      attempts: number;
      reason: string;
      create_time: components['schemas']['Time'];
    };
    FailingJob: {
      job_id: components['schemas']['JobId'];
      job_name: string;
      failing_since: components['schemas']['Time'];
      failures: number;
      more_failures: boolean;
      last_run_id: components['schemas']['RunId'];
      last_state: components['schemas']['RunState'];
      last_failure_time: components['schemas']['Time'];
      /** Format: date-time */
      last_success_time: string | null;
      dead_letters: number | null;
    };
    DeadLetterDetail: {
      allowed_actions: ('discard' | 'retry')[];
    } & components['schemas']['DeadLetter'];
    /** @enum {string} */
    NoticeKind: 'failed' | 'missed' | 'late' | 'recovered' | 'job_paused' | 'shed' | 'approval';
    /** @enum {string} */
    JobNoticeKind: 'failed' | 'missed' | 'late' | 'recovered' | 'job_paused' | 'approval';
    /** @enum {string} */
    DeliveryChannel: 'webhook' | 'mail';
    /** @enum {string} */
    DeliveryState: 'PENDING' | 'DELIVERED' | 'GIVEN_UP';
    Delivery: {
      id: string;
      notice_id: string;
      channel: components['schemas']['DeliveryChannel'];
      kind: components['schemas']['NoticeKind'];
      job_id: components['schemas']['JobId'];
      run_id: string | null;
      state: components['schemas']['DeliveryState'];
      attempts: number;
      create_time: components['schemas']['Time'];
      next_try_time: components['schemas']['TimeOrNull'];
      end_time: components['schemas']['TimeOrNull'];
      status: number | null;
      error: string | null;
      recipients: string[];
    };
    Executor: {
      allowed_actions: ('disable' | 'drain' | 'edit' | 'enable')[];
      executor_id: components['schemas']['ExecutorId'];
      host: string;
      port: number;
      /** @enum {string} */
      state: 'ONLINE' | 'UNHEALTHY' | 'LOST' | 'OFFLINE';
      enabled: boolean;
      draining: boolean;
      labels: components['schemas']['Labels'];
      slots: number;
      running: number;
      load: {
        [key: string]: number;
      };
      last_heartbeat_time: components['schemas']['TimeOrNull'];
      register_time: components['schemas']['TimeOrNull'];
      version: string;
      config_version: number;
      tasks_behind: number | null;
      handlers: {
        name: string;
        slots: number;
        free: number;
      }[];
      features: string[] | null;
      breaker?: {
        /** @enum {string} */
        state: 'open' | 'half_open';
        pause_s: number;
      } | null;
      report?: {
        name: string;
        /** @enum {string} */
        state: 'works' | 'partly' | 'no';
        detail: string;
        cure: string | null;
      }[];
    };
    AuditRecord: {
      changes: components['schemas']['FieldChange'][] | null;
      id: string;
      time: components['schemas']['Time'];
      actor: string;
      action: string;
      object_id: string;
      reason: string | null;
      trace_id: string;
    };
    ClusterPause: {
      since: components['schemas']['Time'];
      by: string;
      reason: string;
    } | null;
    Upgrade: {
      schema: number | null;
      finished_schema: number | null;
      finished: boolean;
      finishing: boolean;
      problem: string | null;
      members: {
        id: string;
        version: string | null;
        schema: number | null;
        upgraded: boolean;
      }[];
      off_until_finish: {
        field: string;
        schema: number;
      }[];
    };
    PauseState: {
      paused: components['schemas']['ClusterPause'];
      version: number;
    };
    SystemStatus: {
      leader: string | null;
      members: {
        id: string;
        address: string;
        owned_segments: number | null;
        clock_offset_ms: number | null;
        version: string | null;
        ops_url: string | null;
        paused: boolean | null;
      }[];
      segments:
        | {
            segment: number;
            owner: string | null;
            epoch: number;
          }[]
        | null;
      executors: {
        [key: string]: number;
      };
      runs_pending: number | null;
      runs_running: number | null;
      oldest_overdue_ms: number | null;
      unplanned_jobs:
        | {
            job_id: string;
            job_name: string;
            /** Format: date-time */
            fire_time: string;
          }[]
        | null;
      late_ms: {
        p50: number | null;
        p99: number | null;
      };
      lag: {
        tasks: number | null;
        results: number | null;
        logs: number | null;
      };
      store_reachable: boolean;
      store: components['schemas']['Store'];
      unknown_since: components['schemas']['TimeOrNull'];
      paused: components['schemas']['ClusterPause'];
      overload: {
        late_s: number;
        below: number;
        /** Format: date-time */
        since: string;
        shed: number;
      } | null;
      unpublished_letters: {
        count: number;
        /** Format: date-time */
        since: string;
      } | null;
      version: string;
    };
    /** @enum {string} */
    NodeState: 'ok' | 'degraded' | 'down' | 'unknown';
    OutageEffect: {
      /** @enum {string} */
      code:
        | 'store.planning.stops'
        | 'store.starting.stops'
        | 'store.running.goes_on'
        | 'store.results.delayed'
        | 'store.logs.delayed'
        | 'store.takeover.delayed'
        | 'store.reading.stops'
        | 'store.changing.stops'
        | 'store.notices.delayed'
        | 'store_held.planning.stops'
        | 'store_held.starting.stops'
        | 'store_held.running.goes_on'
        | 'store_held.results.delayed'
        | 'store_held.logs.delayed'
        | 'store_held.changing.stops'
        | 'store_held.notices.delayed'
        | 'coordinator.starting.goes_on'
        | 'coordinator.running.goes_on'
        | 'coordinator.takeover.stops'
        | 'coordinator.settings.delayed'
        | 'store_and_coordinator.running.stops'
        | 'bus.planning.goes_on'
        | 'bus.starting.delayed'
        | 'bus.running.goes_on'
        | 'bus.results.delayed'
        | 'bus.logs.delayed'
        | 'member.planning.delayed'
        | 'member.starting.delayed'
        | 'member.running.goes_on'
        | 'last_member.planning.stops'
        | 'last_member.starting.stops'
        | 'last_member.running.stops'
        | 'last_member.results.delayed'
        | 'last_member.logs.delayed'
        | 'last_member.reading.stops'
        | 'last_member.changing.stops'
        | 'last_member.notices.delayed'
        | 'executor.starting.delayed'
        | 'executor.running.stops'
        | 'last_executor.starting.stops'
        | 'last_executor.running.stops'
        | 'webhook.notices.delayed'
        | 'webhook.notices.stops'
        | 'mail.notices.delayed'
        | 'mail.notices.stops';
      /** @enum {string} */
      capability:
        | 'planning'
        | 'starting'
        | 'running'
        | 'results'
        | 'logs'
        | 'takeover'
        | 'settings'
        | 'reading'
        | 'changing'
        | 'notices';
      /** @enum {string} */
      effect: 'stops' | 'delayed' | 'goes_on';
      after_s: number;
      until_s: number | null;
      detail: string;
    };
    Topology: {
      seen_by: string;
      time: components['schemas']['Time'];
      state: components['schemas']['NodeState'];
      nodes: {
        id: string;
        /** @enum {string} */
        kind: 'store' | 'coordinator' | 'bus' | 'member' | 'executor' | 'executors' | 'webhook' | 'mail';
        name: string;
        address: string | null;
        state: components['schemas']['NodeState'];
        detail: string | null;
        leader?: boolean;
        counts?: {
          [key: string]: number;
        };
        affects: components['schemas']['OutageEffect'][];
      }[];
      edges: {
        from: string;
        to: string;
        /** @enum {string} */
        purpose: 'records' | 'membership' | 'messages' | 'claims' | 'members' | 'notices';
        critical: boolean;
        state: components['schemas']['NodeState'];
      }[];
      impact: (components['schemas']['OutageEffect'] & {
        nodes: string[];
      })[];
    };
    Store: {
      /** @enum {string} */
      state: 'trusted' | 'held' | 'unknown';
      since: components['schemas']['TimeOrNull'];
      /** @enum {string|null} */
      reason: 'history_lost' | 'other_server' | 'other_store' | 'no_store' | null;
      detail: string | null;
      server: string | null;
      trusted: {
        store_id: string;
        server_id: string;
        mark: number;
        accepted_at: components['schemas']['TimeOrNull'];
      } | null;
      seen: {
        store_id: string;
        server_id: string;
        mark: number;
      } | null;
    };
    Preferences: {
      /** @enum {string|null} */
      language?: 'en' | 'zh-CN' | null;
      /** @enum {string|null} */
      theme?: 'light' | 'dark' | 'system' | null;
      /** @enum {string|null} */
      time?: 'relative' | 'local' | 'utc' | 'job' | null;
    };
    User: {
      user_id: string;
      name: string;
      display_name: string;
      role: components['schemas']['Role'];
      shares: components['schemas']['Shares'];
      disabled: boolean;
      version: number;
      create_time: components['schemas']['Time'];
      update_time: components['schemas']['Time'];
      allowed_actions: ('delete' | 'edit')[];
    };
    GroupName: string;
    GroupLimit: number;
    Group: {
      name: components['schemas']['GroupName'];
      limit: components['schemas']['GroupLimit'];
      running: number;
      per_s: number;
      cooling: number;
      next_start_time: components['schemas']['TimeOrNull'];
      queued: number;
      jobs: number;
      update_time: components['schemas']['Time'];
      allowed_actions: ('delete' | 'edit')[];
    };
    GroupDetail: {
      name?: components['schemas']['GroupName'];
      limit?: components['schemas']['GroupLimit'];
      running?: number;
      per_s?: number;
      cooling?: number;
      next_start_time?: components['schemas']['TimeOrNull'];
      queued?: number;
      jobs?: number;
      update_time?: components['schemas']['Time'];
      allowed_actions?: ('delete' | 'edit')[];
      holders: components['schemas']['GroupHolder'][];
      queue: components['schemas']['GroupWaiter'][];
    } & Record<string, unknown>;
    GroupHolder: {
      run_id: string;
      job_id: string;
      job_name: string;
      /** @enum {string} */
      state: 'PENDING' | 'RUNNING' | 'HELD';
      since: components['schemas']['Time'];
    };
    GroupWaiter: {
      run_id: string;
      job_id: string;
      job_name: string;
      position: number;
      since: components['schemas']['Time'];
      priority: number;
    };
    SecretName: string;
    SecretValue: string | null;
    Secret: {
      name: components['schemas']['SecretName'];
      description: string;
      shared: boolean;
      user_id: string;
      version: number;
      key_id: string;
      create_time: components['schemas']['Time'];
      update_time: components['schemas']['Time'];
      allowed_actions: ('delete' | 'edit')[];
    };
    Caller: {
      /** @enum {string} */
      kind: 'user' | 'token';
      user_id: string | null;
      name: string;
      display_name: string | null;
      token_id: string | null;
      role: components['schemas']['Role'];
      permissions: string[];
      shares: components['schemas']['Shares'];
      preferences: WithRequired<components['schemas']['Preferences'], 'language' | 'theme' | 'time'>;
    };
    Session: {
      access_token: string;
      /** @constant */
      token_type: 'Bearer';
      expires_in: number;
      user: components['schemas']['Caller'];
    };
    /** @enum {string} */
    Scope:
      | 'read'
      | 'self:manage'
      | 'jobs:write'
      | 'jobs:run'
      | 'secrets:write'
      | 'executors:write'
      | 'config:write'
      | 'store:accept'
      | 'audit:read'
      | 'users:manage'
      | 'events:write';
    Token: {
      token_id: string;
      name: string;
      /** @enum {string} */
      role: 'admin' | 'user' | 'read_only' | 'executor_join';
      scopes: null | components['schemas']['Scope'][];
      prefix: string;
      user_id: string | null;
      create_time: components['schemas']['TimeOrNull'];
      expires_at: components['schemas']['TimeOrNull'];
      last_used_at: components['schemas']['TimeOrNull'];
      allowed_actions: 'delete'[];
    };
    Config: {
      version: number;
      settings: {
        [key: string]: string;
      };
      sources: {
        [key: string]: 'live' | 'flag' | 'environment' | 'file' | 'default';
      };
      live: string[];
    };
    GetOpenApi: Record<string, unknown>;
    ExecuteJob: {
      run_id: components['schemas']['RunId'];
    };
    NextFires: {
      job_id: components['schemas']['JobId'];
      state: components['schemas']['JobState'];
      pause_reason?: string | null;
      items: components['schemas']['Fire'][];
      skipped: components['schemas']['SkippedFire'][];
      warnings: components['schemas']['ScheduleWarning'][];
    };
    WhyJob: {
      job_id: components['schemas']['JobId'];
      at: components['schemas']['Time'];
      /** @enum {string} */
      outcome:
        | 'run'
        | 'skipped'
        | 'gap'
        | 'paused'
        | 'manual'
        | 'excluded'
        | 'not_planned'
        | 'not_due'
        | 'not_created'
        | 'not_kept'
        | 'future'
        | 'cluster_paused'
        | 'no_record';
      explanation: string;
      fire_time: components['schemas']['TimeOrNull'];
      job_version: number | null;
      run_id: components['schemas']['RunId'] | null;
      gap: components['schemas']['Gap'] | null;
      cluster_pause: {
        since: components['schemas']['Time'];
        until: components['schemas']['Time'];
        by: string;
        reason: string;
      } | null;
    };
    ValidateWorkflow: {
      valid: boolean;
      problems: components['schemas']['WorkflowProblem'][];
    };
    PreviewSchedule: {
      valid: boolean;
      errors: components['schemas']['FieldError'][];
      cron_expressions: (string | null)[];
      explanations: string[];
      items: components['schemas']['Fire'][];
      skipped: components['schemas']['SkippedFire'][];
      warnings: components['schemas']['ScheduleWarning'][];
    };
    PreviewWaits: {
      valid: boolean;
      errors: components['schemas']['FieldError'][];
      fire_time: components['schemas']['Time'];
      items: {
        job: components['schemas']['JobId'];
        in: string | null;
        from: components['schemas']['Time'];
        until: components['schemas']['Time'];
        /** Format: date-time */
        ahead_until: string | null;
        /** Format: date-time */
        fire_time: string | null;
        run_id: string | null;
        state: string | null;
        met: boolean;
        detail: string;
      }[];
    };
    ListRecentRuns: {
      items: {
        job_id: components['schemas']['JobId'];
        runs: components['schemas']['RecentRun'][];
      }[];
    };
    RetryRun: {
      run_again: components['schemas']['NodeId'][];
      skipped: components['schemas']['NodeId'][];
    };
    SendEvents: {
      items: components['schemas']['EventEffect'][];
    };
    TestEvent: {
      items: components['schemas']['EventVerdict'][];
    };
    TestNotices: {
      channels: {
        channel: components['schemas']['DeliveryChannel'];
        delivered: boolean;
        status: number | null;
        error: string | null;
      }[];
    };
    ListHandlers: {
      items: {
        name: string;
        executors: components['schemas']['ExecutorId'][];
        slots: number;
        free: number;
      }[];
    };
    CreateJoinToken: {
      token_id: string;
      executor_id: components['schemas']['ExecutorId'];
      /** Format: date-time */
      expires_at: string;
      authority_fingerprint: string;
      join_token: string;
      link_address: string | null;
    };
    ListGroups: {
      items: components['schemas']['Group'][];
    };
    ListCalendars: {
      items: components['schemas']['Calendar'][];
    };
    PreviewCalendar: {
      items: {
        /** Format: date-time */
        from: string;
        /** Format: date-time */
        to: string;
      }[];
    };
    RewrapSecrets: {
      key_id: string;
      rewrapped: number;
      unreadable: string[];
      next_after: string | null;
    };
    GetAuthState: {
      setup_needed: boolean;
    };
    CreateSetupLink: {
      path: string;
      url?: string;
      expires_at: components['schemas']['Time'];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
type WithRequired<T, K extends keyof T> = T & {
  [P in K]-?: T[P];
};
