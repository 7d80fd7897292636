-- What is sold over the counter leaves the shelf with the line of its invoice. Lines of a job card have their parts there.
alter table invoice_line add column part_id uuid;
alter table invoice_line add foreign key (dealer_id, part_id) references part;
alter table stock_movement drop constraint stock_movement_cause_kind_check;
alter table stock_movement drop constraint stock_movement_check1;
alter table stock_movement add check (cause_kind in ('job_card', 'invoice', 'delivery', 'stocktake'));
alter table stock_movement add check ((cause_line_id is not null) = (cause_kind in ('job_card', 'invoice')));

-- What the turn and the rules see to already: a deal has one sale that stands, a job card one bill.
create unique index invoice_sale_of_deal on invoice (dealer_id, deal_id) where type = 'VEHICLE_SALE' and status in ('ISSUED', 'PART_PAID', 'PAID');
create unique index invoice_of_job_card on invoice (dealer_id, job_card_id) where type = 'WORKSHOP' and status in ('ISSUED', 'PART_PAID', 'PAID');
